package report // inside: it uses farewellTime, pingTime and status

import (
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/wire"
)

func TestLink_SaysGoodbyeAndWaitsForItsAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		after(5 * time.Second)
		begun := time.Now()
		l.stop()
		if got := n.got(wire.TypeDeregister, begun); len(got) != 1 || time.Since(begun) > time.Second {
			t.Errorf("%d goodbyes, stopped after %s", len(got), time.Since(begun))
		}
		if l.status.read().Connected {
			t.Error("still connected")
		}
	})
}

func TestLink_GoodbyeIsBounded(t *testing.T) {
	for name, trouble := range map[string]func(*fakeNode){
		"silent": func(n *fakeNode) { n.silent = true },
		"dead":   func(n *fakeNode) { n.down = true },
		"no UDP": func(n *fakeNode) { n.noUDP = true },
		"no TCP": func(n *fakeNode) { n.noTCP = true },
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newFakeNode(t)
			l := startLink(t, n)
			after(5 * time.Second)
			n.set(trouble)
			after(time.Minute)
			begun := time.Now()
			l.stop()
			if took := time.Since(begun); took > farewellTime+pingTime {
				t.Errorf("%s: stopping took %s", name, took)
			}
			if got := n.got(wire.TypeDeregister, begun); name != "dead" && len(got) == 0 {
				t.Errorf("%s: no goodbye", name)
			}
		})
	}
}

func TestLink_StopsAtOnceBeforeItHasReachedAnybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.down = true
		l := startLink(t, n)
		after(time.Second)
		begun := time.Now()
		l.stop()
		if took := time.Since(begun); took > pingTime {
			t.Errorf("stopping took %s", took)
		}
	})
}

// After a handover the agent sends no leave message, so the backends stay in the answers of the node.
func TestReporter_AHandoverSaysNoGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		r, _, stop := startFaked(t, map[string]*fakeNode{"ow:1": n}, "ow:1")
		after(15 * time.Second)
		begun := time.Now()
		r.HandOver()
		stop()
		if got := len(n.got(wire.TypeDeregister, begun)) + len(n.got(wire.TypeDrain, begun)); got != 0 ||
			time.Since(begun) > time.Second {
			t.Errorf("%d goodbyes and drains, stopped after %s", got, time.Since(begun))
		}
	})
}
