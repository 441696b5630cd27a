package replication_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// Connected nodes that store different objects after a complete exchange report this after two minutes, until they
// agree.
func TestTrouble_NamesAPeerThatHoldsOtherObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &network{nodes: make(map[string]*node)}
		s := settings(secret)
		s.Peers = []string{"http://a", "http://b"}
		a, b := start(t, w, "a", t.TempDir(), s), start(t, w, "b", t.TempDir(), s)
		alike(t, a, b)
		// This is an old object that b does not accept, because it may have been deleted there.
		old := replica.Object{Key: domain("old.example"), Value: json.RawMessage(`{"name":"old.example"}`),
			Version: replica.Version{Time: time.Now().Add(-100 * 24 * time.Hour).UnixMilli(), Node: "z"}}
		if _, err := a.store.Merge(replica.Offer{Node: "z", Joining: true, Objects: []replica.Object{old}}, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if said := append(a.r.Trouble(), b.r.Trouble()...); len(said) != 0 {
			t.Errorf("too early: %q", said)
		}
		time.Sleep(2 * time.Minute)
		for n, peer := range map[*node]string{a: "b", b: "a"} {
			said := n.r.Trouble()
			if len(said) != 1 || !strings.HasPrefix(said[0], peer+" holds other objects than this node since ") ||
				!strings.Contains(said[0], "1 differ, the first of them domain old.example") ||
				!strings.HasSuffix(said[0], "save or delete these objects again") {
				t.Errorf("%s says %q", n.id, said)
			}
		}
		a.put("old.example", "again")
		time.Sleep(time.Minute)
		alike(t, a, b)
		if said := append(a.r.Trouble(), b.r.Trouble()...); len(said) != 0 {
			t.Errorf("when they hold the same: %q", said)
		}
	})
}

// clocked starts two nodes with the same objects. The offsets set their clocks.
func clocked(t *testing.T) (w *network, nodes []*node, offsets []*atomic.Int64, restart func(i int)) {
	t.Helper()
	w = &network{nodes: make(map[string]*node)}
	s := settings(secret)
	s.Peers = []string{"http://a", "http://b"}
	offsets = []*atomic.Int64{{}, {}}
	dirs := []string{t.TempDir(), t.TempDir()}
	nodes = make([]*node, 2)
	restart = func(i int) {
		nodes[i] = startOn(t, w, dirs[i], w, store.Options{NodeID: string(rune('a' + i)), Now: func() time.Time {
			return time.Now().Add(time.Duration(offsets[i].Load()))
		}}, s)
	}
	restart(0)
	restart(1)
	alike(t, nodes...)
	return w, nodes, offsets, restart
}

// A node changes objects while its peer is down. A wrong clock reverts no change, neither after a restart nor after a
// clock step.
func TestReplication_AWrongClockUndoesNoDecision(t *testing.T) {
	const day = 24 * time.Hour
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute, -2 * day, 2 * day, -40 * day, 40 * day,
		-400 * day, 400 * day} {
		for _, restarted := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				_, nodes, offsets, restart := clocked(t)
				nodes[0].put("gone.example", "before")
				nodes[0].put("changed.example", "before")
				alike(t, nodes...)
				nodes[0].stop()
				nodes[1].remove("gone.example")
				nodes[1].put("changed.example", "after")
				if restarted {
					nodes[1].stop()
				}
				offsets[1].Store(int64(off))
				if restarted {
					restart(1)
				}
				time.Sleep(65 * time.Second)
				nodes[1].put("wrong.example", "by the wrong clock")
				offsets[1].Store(0)
				restart(0)
				alike(t, nodes...)
				time.Sleep(time.Minute)
				for _, n := range nodes {
					gone, _ := n.store.Object(domain("gone.example"))
					changed, _ := n.store.Object(domain("changed.example"))
					wrong, _ := n.store.Object(domain("wrong.example"))
					if !gone.Deleted || !strings.Contains(string(changed.Value), "after") || wrong.Deleted || wrong.Value == nil {
						t.Errorf("clock off by %s, restarted %t: %s has %+v, %+v and %+v", off, restarted, n.id, gone, changed,
							wrong)
					}
					if lead := time.Until(wrong.Version.At()); lead > replica.MaxAhead {
						t.Errorf("clock off by %s, restarted %t: a version stays %s ahead", off, restarted, lead)
					}
				}
			})
		}
	}
}

// Nodes with different clocks store the same objects after the clocks are correct.
func TestReplication_NodesWithAWrongClockAgreeAgain(t *testing.T) {
	for _, off := range []time.Duration{-40 * 24 * time.Hour, 40 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			_, nodes, offsets, _ := clocked(t)
			nodes[1].put("gone.example", "")
			alike(t, nodes...)
			offsets[1].Store(int64(off))
			nodes[0].put("zero.example", "")
			nodes[1].put("one.example", "")
			nodes[1].remove("gone.example")
			time.Sleep(5 * time.Minute)
			if said := nodes[0].r.Trouble(); len(said) == 0 {
				t.Errorf("clock off by %s: no condition", off)
			}
			offsets[1].Store(0)
			time.Sleep(2 * time.Minute)
			alike(t, nodes...)
			for _, n := range nodes {
				if figures := n.store.Replicas(); figures.Objects != 2 || figures.Tombstones != 1 || len(n.r.Trouble()) != 0 {
					t.Errorf("clock off by %s: %s has %+v and says %q", off, n.id, figures, n.r.Trouble())
				}
			}
		})
	}
}
