package demo // inside: it uses finding, hang and times

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// A measurement is compared with its documented maximum. The result is one of: kept, late, broken, unknown.
func TestFinding_HoldsTheSlowestNodeAgainstThePromise(t *testing.T) {
	const bound = time.Second
	node := &harness.Node{Unit: &harness.Unit{Name: "ow-eu"}}
	for _, c := range []struct {
		promise string
		times   []time.Duration // negative: nothing to see yet
		age     time.Duration
		settled bool
		late    bool
		broken  string
	}{
		{"in time on both nodes", []time.Duration{300 * time.Millisecond, time.Second}, 0, true, false, ""},
		{"late on one node", []time.Duration{300 * time.Millisecond, 1001 * time.Millisecond}, 0, true, true, ""},
		{"one node has no result yet", []time.Duration{300 * time.Millisecond, -1}, bound, false, false, ""},
		{"one node has none although it is time", []time.Duration{300 * time.Millisecond, -1},
			bound + hang + time.Second, true, false, "nothing to see"},
		{"no node runs", nil, time.Hour, true, false, ""},
	} {
		t.Run(c.promise, func(t *testing.T) {
			next := 0
			all := times(slices.Repeat([]*harness.Node{node}, len(c.times)), func(*harness.Node) (time.Duration, bool) {
				took := c.times[next]
				next++
				return took, took >= 0
			})
			f := all.finding("last answer", bound, time.Now().Add(-c.age))
			if f.settled != c.settled {
				t.Errorf("settled: %t, want %t", f.settled, c.settled)
			}
			if late := strings.Contains(f.text, "late:"); late != c.late && !timed {
				t.Errorf("late: %t, want %t", late, c.late)
			}
			if (f.broken != nil) != (c.broken != "") || (f.broken != nil && !strings.Contains(f.broken.Error(), c.broken)) {
				t.Errorf("broken: %v, want %q", f.broken, c.broken)
			}
		})
	}
}
