package replication

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// overtaken returns audit entries for decisions of this node that no longer stand: later ones came from other nodes, or
// they were deleted elsewhere while this node was away. The store keeps the entries together with the new objects.
func (r *Replication) overtaken(m *replica.Merged) (entries []store.Entry) {
	after := make(map[replica.Key]*replica.Object, len(m.Taken))
	for i := range m.Taken {
		after[m.Taken[i].Key] = &m.Taken[i]
	}
	for i := range m.Lost {
		if now := after[m.Lost[i].Key]; now != nil && !sameDecision(&m.Lost[i], now) {
			entries = append(entries, r.o.Audit(overtakenBy(&m.Lost[i], now)))
		}
	}
	for i := range m.Dropped {
		if o := &m.Dropped[i]; o.Version.Node == r.o.NodeID && !o.Deleted {
			gone := &replica.Object{Deleted: true, Version: replica.Version{Node: r.o.NodeID}}
			entries = append(entries, r.o.Audit(overtakenBy(o, gone)))
		}
	}
	return entries
}

// overtakenBy describes, for the audit log, that after has taken the place of before.
func overtakenBy(before, after *replica.Object) audit.Change {
	// The resources that changes of them have by the API.
	resources := map[string]string{store.KindMapping: "geo_mapping", store.KindSetting: "config",
		store.KindWeight: "backend", store.KindDrain: "server", store.KindRevocation: "agent", store.KindLock: "agent"}
	resource := before.Kind
	if named, ok := resources[resource]; ok {
		resource = named
	}
	c := audit.Change{Action: api.AuditSync, Resource: resource, ResourceID: before.Name, Actor: after.Version.Node,
		ActorType: api.ActorSystem}
	if !before.Deleted {
		c.Before = shown(before)
	}
	if !after.Deleted {
		c.After = shown(after)
	}
	return c
}

// shown returns the value of an object without secrets, which only that of a server may have.
func shown(o *replica.Object) any {
	if o.Kind != store.KindServer {
		return o.Value
	}
	var server store.Server
	_ = json.Unmarshal(o.Value, &server) // what cannot be read is left out
	return server.Shown()
}

// sameDecision reports whether two objects say the same, whenever they were made.
func sameDecision(a, b *replica.Object) bool {
	return a.Deleted == b.Deleted && undated(a.Value) == undated(b.Value)
}

func undated(value json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return string(value)
	}
	delete(fields, "created_at")
	delete(fields, "updated_at")
	text, _ := json.Marshal(fields) // in the order of their names
	return string(text)
}
