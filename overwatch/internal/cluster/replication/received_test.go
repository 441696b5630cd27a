package replication // inside: it uses entriesOf and newTrail

import (
	"fmt"
	"testing"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// A failover of many domains on a peer leaves room for entries about the changes of operators.
func TestEntriesOf_FailbacksLeaveRoomForOperators(t *testing.T) {
	r := &Replication{o: Options{NodeID: "a", Audit: func(audit.Change) store.Entry { return nil }}}
	entries := r.entriesOf(&peer{trail: newTrail()}, "b")
	taken := func(kind string, count int) int {
		m := &replica.Merged{}
		for i := range count {
			o := replica.Object{Key: replica.Key{Kind: kind, Name: fmt.Sprintf("n%d.example main", i)}}
			o.Version.Node, o.Deleted = "b", true
			m.Taken = append(m.Taken, o)
		}
		return len(entries(m).Received)
	}
	if got := taken(store.KindFailback, 2*auditBurst); got != failbackBurst {
		t.Errorf("%d entries about failbacks", got)
	}
	if got := taken(store.KindOverride, 10); got != 10 {
		t.Errorf("%d entries about 10 overrides", got)
	}
}
