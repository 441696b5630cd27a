package replication_test

import (
	"slices"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// A change is said to be where it is stored; who waits is told when the last peer that runs has it.
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
