package zone // inside: it uses minPrefetchCells

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
)

// fetchView returns a view with these load-balanced names that is large enough for Prefetch, and its contents.
func fetchView(t *testing.T, names ...string) (*View, Contents) {
	t.Helper()
	c := contents(t, "gslb.test.")
	c.Signer = quickSigner{}
	for i := range minPrefetchCells {
		c.Balanced = append(c.Balanced, fmt.Sprintf("d%06d.gslb.test.", i))
	}
	c.Balanced = append(c.Balanced, names...)
	return newView(t, nil, c), c
}

// atOne queries the addresses of a name with two addresses until its rotation is at position 1. It returns the index of
// the rotation.
func atOne(t *testing.T, v *View, name string, turns *Rotations) (number uint32) {
	t.Helper()
	key, _ := canonicalName(name)
	_, o := v.findOwner(key)
	number = o.answers.Load().balanced[0].rotationIndex
	for range 2 {
		if turns.rotationAt(number).position != 1 {
			msg, q := question(t, name, dns.TypeA)
			v.Append(msg, q, turns)
		}
	}
	if at := turns.rotationAt(number).position; at != 1 {
		t.Fatalf("the turn is at position %d, want 1", at)
	}
	return number
}

// fetchBoth calls Prefetch with questions for both types of addresses.
func fetchBoth(t *testing.T, v *View, name string, turns *Rotations) {
	t.Helper()
	var batch []*Question
	for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		_, q := question(t, name, rtype)
		q.DO = true
		batch = append(batch, q)
	}
	v.Prefetch(batch, turns)
}

// The position of a rotation may exceed the length of the current schedule, if the position belongs to a schedule of
// other candidates.
func TestFetch_ATurnOfALongerScheduleDoesNotCount(t *testing.T) {
	v, _ := fetchView(t, "app.gslb.test.")
	w, turns := NewWriter(), NewRotations(1, 1)
	for _, words := range []string{"10.0.0.3", "10.0.0.3 10.0.0.4/3", "down", "2001:db8::1"} {
		steer(t, w, v, "app.gslb.test.", "10.0.0.1 10.0.0.2", 1)
		atOne(t, v, "app.gslb.test.", turns)
		steer(t, w, v, "app.gslb.test.", words, 1)
		fetchBoth(t, v, "app.gslb.test.", turns)
	}
}

func TestFetch_ATurnOfANameThatIsGoneDoesNotCount(t *testing.T) {
	v, c := fetchView(t, "app.gslb.test.")
	w, turns := NewWriter(), NewRotations(1, 1)
	steer(t, w, v, "app.gslb.test.", "10.0.0.1 10.0.0.2", 1)
	number := atOne(t, v, "app.gslb.test.", turns)
	rest := c.Balanced[:len(c.Balanced)-1]
	for _, names := range [][]string{rest, append(rest[:len(rest):len(rest)], "new.gslb.test.")} {
		c.Balanced = names
		v = newView(t, v, c)
		v.ReleasePrevious()
	}
	steer(t, w, v, "new.gslb.test.", "10.0.0.1 2001:db8::1", 1)
	key, _ := canonicalName("new.gslb.test.")
	_, o := v.findOwner(key)
	if a := o.answers.Load(); a.balanced[0].rotationIndex != number && a.balanced[1].rotationIndex != number {
		t.Fatalf("the turn %d was not used again: the test shows nothing", number)
	}
	fetchBoth(t, v, "new.gslb.test.", turns)
}
