package keysync // inside: it uses bootTime and provisionalPatience

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/peerauth"
)

// Two nodes without keys start at the same time, and answer each other late or refuse connections for some time.
// Neither node may offer its own key to the parent before it knows the other node's key: the key that is offered first
// is the key that both nodes finally have. This holds for exchanges of two requests that end within the timeout of 30
// s. A slower peer is treated as missing.
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

// A third peer answers more slowly than the provisional time of a key, and its final answer is invalid. It does not
// prevent the agreement of two valid nodes, whose first exchange failed or was slow: they agree on one key.
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
					n.put("liar", &liar{peerauth.NewServer(), func(m *message) { m.Holding.Keys = []dnssec.Portable{lie} }})
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

// If the timeout of a node is longer than the provisional time of a key, the node waits for the end of the first
// exchange before it offers its own key.
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

// mute accepts requests and answers none.
type mute struct{ asked atomic.Int32 }

func (m *mute) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	m.asked.Add(1)
	<-r.Context().Done()
}

// The answer of a peer may be older than the creation of a key or than a request for current state. In this case the
// node queries the peer again.
func TestSync_AnExchangeUnderWayIsBegunAnewWhenItsAnswerWouldBeOld(t *testing.T) {
	for name, event := range map[string]func(*testing.T, *node) error{
		"a new key": func(_ *testing.T, a *node) error {
			_, err := a.zones.Signer("new.example.")
			return err
		},
		"an order": func(t *testing.T, a *node) error {
			_, err := a.Sync.Sync(t.Context())
			return err
		},
		"other settings": func(_ *testing.T, a *node) error {
			a.Reconfigure(a.settings.Get())
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, n *network) {
				n.timeout = time.Hour
				b := new(mute)
				n.put("b", b)
				a := n.start("a", t.TempDir(), "b")
				time.Sleep(3 * provisionalPatience)
				before := b.asked.Load()
				if err := event(t, a); err != nil {
					t.Fatal(err)
				}
				time.Sleep(provisionalPatience + time.Second) // the current round ends first
				if again := b.asked.Load() - before; again != 1 {
					t.Errorf("the peer was asked %d times, want once", again)
				}
				a.stop()
			})
		})
	}
}

// A peer that was queried after the creation of the key, and then answers slowly, counts as failed: the key is offered
// to the parent after its provisional time.
func TestSync_APeerThatFailedAndIsThenSlowIsNotAwaited(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		n.timeout = time.Hour
		a := n.start("a", t.TempDir(), "b") // which refuses connections
		time.Sleep(time.Second)
		n.put("b", new(mute))
		time.Sleep(20 * time.Second)
		if told := a.told(); len(told) > 0 {
			t.Errorf("after 21 s the parent was told of %v", told)
		}
		time.Sleep(20 * time.Second)
		if len(a.told()) != 1 {
			t.Errorf("after 41 s the key is still provisional: %+v", a.Status())
		}
		a.stop()
	})
}

// toldFirst watches the keys that nodes offer to the parent until long after the provisional time. It fails if a node
// offers other keys than the first.
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
