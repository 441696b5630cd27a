package zone // inside: it shares view_test.go

import (
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/miekg/dns"
)

// count sends n queries and counts the first addresses.
func count(t *testing.T, v *View, name string, n int, turns *Rotations) map[string]int {
	t.Helper()
	seen := make(map[string]int)
	for range n {
		seen[v.Resolve(name, dns.TypeA, false, netip.Addr{}, turns).Answer[0].(*dns.A).A.String()]++
	}
	return seen
}

func TestWriter_SharesAreExactPerSocket(t *testing.T) {
	v := sample(t)
	for seed := range uint64(20) {
		seen := count(t, v, "app.gslb.test.", 601, NewRotations(seed, 1))
		for address, due := range map[string]float64{"10.0.0.1": 300.5, "10.0.0.2": 601. / 6, "10.0.0.3": 601. / 3} {
			if off := float64(seen[address]) - due; off > 1 || off < -1 {
				t.Errorf("seed %d: %s led %d of 601 answers, due %.1f", seed, address, seen[address], due)
			}
		}
	}
}

func TestWriter_TheSameDecisionLeavesEveryTurnWhereItIs(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	w, turns := NewWriter(), NewRotations(1, 1)
	const addresses = "10.0.0.1 10.0.0.2 10.0.0.3"
	if !steer(t, w, v, "app.gslb.test.", addresses, 1) {
		t.Fatal("the first decision changed nothing")
	}
	seen := make(map[string]int)
	for range 30 {
		if steer(t, w, v, "app.gslb.test.", addresses, 1) {
			t.Fatal("the same decision changed something")
		}
		v = newView(t, v, contents(t, "gslb.test.", "steer app", "steer other"))
		for address, n := range count(t, v, "app.gslb.test.", 1, turns) {
			seen[address] += n
		}
	}
	for address, n := range seen {
		if n != 10 {
			t.Errorf("%s led %d of 30 answers over 30 publications, want 10", address, n)
		}
	}
}

func TestWriter_AChangedSetDoesNotAlwaysBeginWithTheSameAddress(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	w, turns := NewWriter(), NewRotations(1, 1)
	seen := make(map[string]int)
	for i := range 300 {
		words := "10.0.0.1 10.0.0.2 10.0.0.3"
		if i%2 == 1 {
			words += " 10.0.0.4"
		}
		steer(t, w, v, "app.gslb.test.", words, 1)
		for address, n := range count(t, v, "app.gslb.test.", 1, turns) {
			seen[address] += n
		}
	}
	for _, address := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		if seen[address] < 50 || seen[address] > 130 {
			t.Errorf("%s answered first %d of 300 times: %v", address, seen[address], seen)
		}
	}
}

func TestWriter_ANewNameFailsUntilItIsDecided(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer app"))
	if r := v.Resolve("app.gslb.test.", dns.TypeA, false, netip.Addr{}, NewRotations(1, 1)); r.Kind != Failed {
		t.Errorf("%v, want an error", r)
	}
}

func TestNew_PlacesOfNamesThatAreGoneGoToNewOnes(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "steer a", "steer b"))
	for _, names := range []string{"steer b", "steer c"} {
		v = newView(t, v, contents(t, "gslb.test.", "steer b", names))
		v.ReleasePrevious()
	}
	turns := map[uint32]bool{}
	for _, o := range v.zones["\x04gslb\x04test\x00"].names.appendBalanced(nil) {
		for _, c := range o.answers.Load().balanced {
			turns[c.rotationIndex] = true
		}
	}
	if len(turns) != 4 || slices.Max(slices.Collect(maps.Keys(turns))) != 3 {
		t.Errorf("turns %v, want 0 to 3", turns)
	}
}

func TestWriter_RefusesANameThatIsNotSteered(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "static A 10.0.0.1"))
	for _, name := range []string{"static.gslb.test.", "nx.gslb.test.", "bad..name"} {
		if _, err := NewWriter().SetAnswers(v, name, decide("10.0.0.1"), 1); err == nil {
			t.Errorf("%s was steered", name)
		}
	}
}
