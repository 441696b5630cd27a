package keysync

import (
	"slices"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/dnssec"
)

// Two nodes without keys start at once, and answer one another late, or refuse connections for a while. Neither may tell the parent of
// its own key before it knows of the other's: what either tells first is the one key that both have in the end. That holds for exchanges
// of two requests that end within the time-out, 30 s; a peer that takes longer is one that is not there.
func TestSync_TheKeyThatIsToldFirstStaysThoughPeersAnswerLate(t *testing.T) {
	for name, late := range map[string]func(*network, time.Duration){
		"one answers late":     func(n *network, by time.Duration) { n.delay("b", by) },
		"both answer late":     func(n *network, by time.Duration) { n.delay("a", by); n.delay("b", by) },
		"both refuse at first": func(n *network, by time.Duration) { n.refuse(time.Now().Add(bootTime+by), "a", "b") },
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

// A third peer that takes longer over an answer than a key is provisional, and lies in the end, keeps two honest nodes from nothing: they
// agree on one key though the first time they asked one another nobody listened, or each took long.
func TestSync_ASlowLiarKeepsNobodyFromAgreeing(t *testing.T) {
	for name, late := range map[string]func(*network){
		"both refuse at first": func(n *network) { n.refuse(time.Now().Add(bootTime+5*time.Second), "a", "b") },
		"both are slow":        func(n *network) { n.delay("a", 11*time.Second); n.delay("b", 11*time.Second) },
	} {
		for _, slow := range []time.Duration{4 * time.Second, 14500 * time.Millisecond, time.Hour} {
			t.Run(name+", liar takes "+slow.String(), func(t *testing.T) {
				test(t, func(t *testing.T, n *network) {
					late(n)
					lie := stranger(t, apex, time.Now())
					lie.Tag++
					n.put("liar", &liar{newNonces(), func(m *message) { m.Holding.Keys = []dnssec.Portable{lie} }})
					n.delay("liar", slow)
					nodes := startWith(n, []string{"liar"}, "a", "b")
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

// A node with longer patience than a key is provisional waits for the first exchange to end before it tells of its own key.
func TestSync_AnExchangeLongerThanAKeyIsProvisionalIsWaitedFor(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		n.timeout = time.Minute
		n.delay("a", 22*time.Second)
		n.delay("b", 22*time.Second)
		nodes := startTogether(n, "a", "b")
		defer stopAll(nodes...)
		toldFirst(t, nodes)
		alike(t, 1, nodes...)
	})
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
