package replication

import (
	"encoding/json"
	"errors"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// overtaken returns audit entries about changes of this node that other nodes replaced. The other nodes changed the
// objects later, or deleted the objects while this node was unreachable.
func (r *Replication) overtaken(m *replica.Merged) (list []audit.Change) {
	after := make(map[replica.Key]*replica.Object, len(m.Taken))
	for i := range m.Taken {
		after[m.Taken[i].Key] = &m.Taken[i]
	}
	for i := range m.Lost {
		if now := after[m.Lost[i].Key]; now != nil && !sameDecision(&m.Lost[i], now) {
			list = append(list, overtakenBy(&m.Lost[i], now))
		}
	}
	for i := range m.Dropped {
		if o := &m.Dropped[i]; o.Version.Node == r.o.NodeID && !o.Deleted {
			gone := &replica.Object{Deleted: true, Version: replica.Version{Node: r.o.NodeID}}
			list = append(list, overtakenBy(o, gone))
		}
	}
	return list
}

// overtakenBy returns the audit entry about the replacement of before by after.
func overtakenBy(before, after *replica.Object) audit.Change {
	c := audit.Change{Action: api.AuditSync, Resource: store.ResourceOf(before.Kind), ResourceID: before.Name,
		Actor:     after.Version.Node,
		ActorType: api.ActorSystem}
	if !before.Deleted {
		c.Before = shown(before)
	}
	if !after.Deleted {
		c.After = shown(after)
	}
	return c
}

// shown returns the value of an object without secrets. Of the known kinds, only servers, regions, their overlays
// and tokens may have secrets. It omits a value that this version cannot read, such as the value of an unknown kind.
func shown(o *replica.Object) (value any) {
	err := errUnreadable
	if store.Readable(o) {
		value, err = o.Value, nil
	}
	if err == nil && o.Kind == store.KindServer {
		var server *model.Server
		if server, err = model.Decode[model.Server](o.Value); err == nil {
			value = server.Shown()
		}
	}
	if err == nil && o.Kind == store.KindRegion {
		value, err = shownRegion(o.Value)
	}
	if err == nil && o.Kind == store.KindToken {
		var token *model.Token
		if token, err = model.Decode[model.Token](o.Value); err == nil {
			value = token.Shown()
		}
	}
	if err == nil && o.Kind == store.KindSetting {
		value, err = definitions.ShownSetting(o.Name, o.Value)
	}
	if err != nil {
		return map[string]string{"omitted": "this version of gslb cannot read it"}
	}
	return value
}

// shownRegion returns the stored form of a region without the secrets of its health check.
func shownRegion(value json.RawMessage) (json.RawMessage, error) {
	r, err := model.Decode[model.Region](value)
	if err != nil || r.HealthCheck == nil {
		return value, err
	}
	return model.Encode(r.Shown())
}

var errUnreadable = errors.New("it cannot be read")

// sameDecision reports whether two objects are equal except for their versions.
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
	text, _ := json.Marshal(fields) // sorted by name
	return string(text)
}
