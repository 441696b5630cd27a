package harness // inside: it uses keptAnswers and question

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// recorded returns a watch with one answer per millisecond. Each answer is the last octet of the address, 0 for
// SERVFAIL, or -1 for no answer.
func recorded(n *Node, name string, begin time.Time, octets ...int) *Watch {
	w := NewWatch([]*Node{n}, []string{name}, time.Millisecond)
	for i, o := range octets {
		a := Answer{At: begin.Add(time.Duration(i) * time.Millisecond), Took: time.Duration(o) * time.Microsecond}
		switch o {
		case -1:
			a.Err = errors.New("timeout")
		case 0:
			a.Rcode = dns.RcodeServerFailure
		default:
			a.Addrs = []netip.Addr{addr(o)}
		}
		w.remember(question{n.DNS, name}, a)
	}
	return w
}

func addr(octet int) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 1, byte(octet)}) }

func TestMeasure_LastWithCountsTheAnswersWithoutItSince(t *testing.T) {
	n, begin := &Node{}, time.Unix(1000, 0)
	for _, c := range []struct {
		promise string
		octets  []int
		from    time.Duration
		last    time.Duration // negative: none
		quiet   int
	}{
		{"gone", []int{1, 2, 1, 2, 2, 2}, 0, 2 * time.Millisecond, 3},
		{"an error code is an answer without it", []int{1, 0, 0}, 0, 0, 2},
		{"no answer says nothing", []int{1, -1, -1}, 0, 0, 0},
		{"what was before does not count", []int{1, 1, 2, 2}, 2 * time.Millisecond, -1, 2},
		{"still there", []int{2, 2, 1}, 0, 2 * time.Millisecond, 0},
	} {
		t.Run(c.promise, func(t *testing.T) {
			w := recorded(n, "a", begin, c.octets...)
			last, quiet := w.LastWith(n, "a", addr(1), begin.Add(c.from))
			if quiet != c.quiet {
				t.Errorf("quiet for %d answers, want %d", quiet, c.quiet)
			}
			if c.last < 0 != last.IsZero() || (c.last >= 0 && last.Sub(begin) != c.last) {
				t.Errorf("last at %s, want %s", last.Sub(begin), c.last)
			}
		})
	}
}

func TestMeasure_TallyCountsWhatAClientGot(t *testing.T) {
	n, begin := &Node{}, time.Unix(1000, 0)
	w := recorded(n, "a", begin, 9, 1, 2, 1, 0, -1, 1)
	got := w.Tally(n, "a", begin.Add(time.Millisecond))
	if got.Asked != 6 || got.Failed != 2 || got.Got[addr(1)] != 3 || got.Got[addr(2)] != 1 {
		t.Errorf("tally %+v", got)
	}
	if share := got.Share(addr(1)); share != 0.75 {
		t.Errorf("share %v, want 0.75", share)
	}
	if got.Slow != 2*time.Microsecond {
		t.Errorf("slowest good answer %s, want 2 µs", got.Slow)
	}
	if first := w.FirstWith(n, "a", addr(2), begin); first.Sub(begin) != 2*time.Millisecond {
		t.Errorf("first at %s, want 2 ms", first.Sub(begin))
	}
}

func TestMeasure_MemoryIsBoundedAndTheNewestStay(t *testing.T) {
	n, begin := &Node{}, time.Unix(1000, 0)
	octets := make([]int, 5*keptAnswers)
	for i := range octets {
		octets[i] = 1
	}
	w := recorded(n, "a", begin, octets...)
	all := w.Since(n, "a", begin)
	if len(all) < keptAnswers || len(all) > 2*keptAnswers {
		t.Errorf("%d answers are kept, want %d to %d", len(all), keptAnswers, 2*keptAnswers)
	}
	if at := all[len(all)-1].At; !at.Equal(begin.Add(time.Duration(len(octets)-1) * time.Millisecond)) {
		t.Errorf("the newest answer is of %s", at)
	}
}
