package replication_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/cluster/replication"
)

// lostWithin returns when a node reports the wanted lost peers, and fails after a time of the bubble.
func lostWithin(t *testing.T, n *node, count int, within time.Duration) []replication.LostPeer {
	t.Helper()
	for end := time.Now().Add(within); ; <-time.After(50 * time.Millisecond) {
		lost := n.r.Lost()
		if len(lost) == count {
			return lost
		}
		if time.Now().After(end) {
			t.Fatalf("%s after %s: lost %+v", n.id, within, lost)
		}
	}
}

// An unreachable peer is reported as lost within 5 s, by its id, and is removed from the report with its next answer.
func TestLost_APeerThatIsCutOffIsReportedWithinFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, nodes, _ := cluster(t)
		a, b, c := nodes[0], nodes[1], nodes[2]
		alike(t, nodes...)
		<-time.After(10 * time.Second)
		for range 3 {
			w.hang("c")
			for _, n := range []*node{a, b} {
				lost := lostWithin(t, n, 1, 4*time.Second)
				if lost[0].Node != "c" || lost[0].URL != "http://c" || len(n.r.Trouble()) != 0 {
					t.Errorf("%s: lost %+v, %q", n.id, lost, n.r.Trouble())
				}
				if n.r.Answers("c") || !n.r.Answers("b") && n == a {
					t.Errorf("%s: which nodes answer", n.id)
				}
			}
			a.put("while-away.example", time.Now().String())
			<-time.After(time.Minute)
			w.hang("")
			for _, n := range []*node{a, b} {
				lostWithin(t, n, 0, 2*time.Second)
				if said := n.r.Trouble(); len(said) != 0 {
					t.Errorf("%s, when c is back: %q", n.id, said)
				}
			}
			<-time.After(time.Second)
			for _, p := range a.r.Status().Peers {
				if !p.Connected {
					t.Errorf("status: %+v", p)
				}
			}
			if o, _ := c.store.Object(domain("while-away.example")); o.Version.Node != "a" {
				t.Error("the exchange is not resumed")
			}
		}
		for _, n := range nodes {
			n.stop()
		}
	})
}

// A peer that restarts within two seconds is not lost.
func TestLost_ARestartIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, nodes, dirs := cluster(t)
		a := nodes[0]
		alike(t, nodes...)
		nodes[2].stop()
		<-time.After(2 * time.Second)
		c := start(t, w, "c", dirs["c"], settings(secret))
		for range 100 {
			if lost := a.r.Lost(); len(lost) > 0 {
				t.Fatalf("lost: %+v", lost)
			}
			<-time.After(100 * time.Millisecond)
		}
		a.stop()
		nodes[1].stop()
		c.stop()
	})
}

// Two nodes with one id report it, and so does a third node.
func TestSharedIDs_EachNodeOfTheClusterReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &network{nodes: make(map[string]*node)}
		s := settings(secret)
		a := start(t, w, "a", t.TempDir(), s)
		twin := start(t, w, "a", t.TempDir(), s)
		w.set("a", a)
		w.set("b", twin)
		c := start(t, w, "c", t.TempDir(), s)
		<-time.After(2 * time.Minute)
		for name, n := range map[string]*node{"a": a, "twin": twin, "c": c} {
			shared := n.r.SharedIDs()
			if len(shared) != 1 || shared[0].Node != "a" || shared[0].Own != (n != c) {
				t.Errorf("%s: %+v", name, shared)
			}
		}
		twin.stop()
		w.set("a", a)
		w.set("b", nil)
		<-time.After(2 * time.Minute)
		for _, n := range []*node{a, c} {
			if shared := n.r.SharedIDs(); len(shared) != 0 {
				t.Errorf("%s, after the other has stopped: %+v", n.id, shared)
			}
		}
		a.stop()
		c.stop()
	})
}
