package replication_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// The node reports where a change is stored. A waiting client receives the response when the last running peer has
// stored the change.
func TestReached_WaitsForThePeersThatRun(t *testing.T) {
	_, nodes, _ := cluster(t)
	a, b, c := nodes[0], nodes[1], nodes[2]
	alike(t, nodes...)
	a.put("one.example", "")
	reached := a.r.Reached(t.Context(), time.Minute)
	if !slices.Equal(reached.Has, []string{"b", "c"}) || len(reached.Lacks) != 0 {
		t.Errorf("with all: %+v", reached)
	}
	if _, there := b.store.Object(domain("one.example")); !there {
		t.Error("b does not have it")
	}
	c.stop()
	until(t, "a to see that c is down", func() bool {
		return slices.ContainsFunc(a.r.Status().Peers, func(p api.ReplicationPeer) bool {
			return p.NodeID == "c" && !p.Connected
		})
	})
	a.put("two.example", "")
	reached = a.r.Reached(t.Context(), time.Minute)
	if !slices.Equal(reached.Has, []string{"b"}) || !slices.Equal(reached.Lacks, []string{"c"}) {
		t.Errorf("without c: %+v", reached)
	}
	a.r.Reconfigure(settings(""))
	if reached = a.r.Reached(t.Context(), time.Minute); reached != nil {
		t.Errorf("without replication: %+v", reached)
	}
}

// A node that refuses a change because its clock is behind lacks the change until its clock has caught up. Until then
// it reports this.
func TestReached_WhoRefusesAChangeLacksIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := &network{nodes: make(map[string]*node)}, settings(secret)
		s.Peers = []string{"http://a", "http://b"}
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		a := startOn(t, w, t.TempDir(), w, store.Options{NodeID: "a", Now: now}, s)
		b := start(t, w, "b", t.TempDir(), s)
		alike(t, a, b)
		ahead.Store(int64(10 * time.Minute))
		a.put("one.example", "")
		reached := a.r.Reached(t.Context(), 5*time.Second)
		if len(reached.Has) != 0 || !slices.Equal(reached.Lacks, []string{"b"}) {
			t.Errorf("while it is refused: %+v", reached)
		}
		if said := b.r.Trouble(); len(said) != 1 || !strings.HasPrefix(said[0], "a takes no part in replication ") ||
			!strings.HasSuffix(said[0], "set the clocks") {
			t.Errorf("the condition says %q", said)
		}
		time.Sleep(7 * time.Minute)
		if reached = a.r.Reached(t.Context(), 5*time.Second); !slices.Equal(reached.Has, []string{"b"}) {
			t.Errorf("when it is taken: %+v", reached)
		}
		ahead.Store(0)
		time.Sleep(time.Minute)
		if said := b.r.Trouble(); len(said) != 0 {
			t.Errorf("when the clock is right, the condition says %q", said)
		}
	})
}
