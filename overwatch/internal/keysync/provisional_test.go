package keysync

import (
	"slices"
	"testing"
	"time"
)

// Two nodes without keys start at once, and answer one another late, or refuse connections for a while. Neither may tell the parent of
// its own key before it knows of the other's: what either tells first is the one key that both have in the end. That holds for exchanges
// of two requests that end within the provisional time, 30 s; a peer that takes longer is one that is not there.
func TestSync_TheKeyThatIsToldFirstStaysThoughPeersAnswerLate(t *testing.T) {
	for name, late := range map[string]func(*network, time.Duration){
		"one answers late":     func(n *network, by time.Duration) { n.delay("b", by) },
		"both answer late":     func(n *network, by time.Duration) { n.delay("a", by); n.delay("b", by) },
		"both refuse at first": func(n *network, by time.Duration) { n.refuse(time.Now().Add(bootTime + by)) },
	} {
		for _, by := range []time.Duration{time.Second, 2500 * time.Millisecond, 9 * time.Second, 14 * time.Second} {
			t.Run(name+" by "+by.String(), func(t *testing.T) {
				test(t, func(t *testing.T, n *network) {
					late(n, by)
					nodes := startTogether(n, "a", "b")
					defer stopAll(nodes...)
					first := toldFirst(t, nodes)
					alike(t, 1, nodes...)
					if !slices.Equal(nodes[0].told(), first) {
						t.Errorf("the parent was told of %v, and the key is %v", first, nodes[0].told())
					}
				})
			})
		}
	}
}

// toldFirst watches, until long after the provisional time, of which keys nodes tell the parent, and fails when one tells of others
// than the first.
func toldFirst(t *testing.T, nodes []*node) (first []uint16) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, n := range nodes {
			told := n.told()
			if len(told) == 0 {
				continue
			}
			if first == nil {
				first = told
			}
			if !slices.Equal(told, first) {
				t.Errorf("%s tells the parent of %v, before it was %v", n.name, told, first)
				return first
			}
		}
	}
	return first
}
