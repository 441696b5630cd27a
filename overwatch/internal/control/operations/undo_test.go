package operations // inside: it uses sameChange, which needs an audit log of thousands of entries otherwise

import (
	"testing"
	"time"

	"gslb.internal/shared/api"
)

func TestSameChange_IsOfOneActorOneIDAndOneHour(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	entry := func(edit func(*api.AuditEntry)) *api.AuditEntry {
		e := &api.AuditEntry{Actor: "a", ActorType: api.ActorUser, Status: api.AuditSuccess, Timestamp: at,
			RequestID: "r1",
			Details:   map[string]string{api.DetailChange: "c"}}
		edit(e)
		return e
	}
	first := entry(func(*api.AuditEntry) {})
	for name, c := range map[string]struct {
		other *api.AuditEntry
		want  bool
	}{
		"another request":        {entry(func(e *api.AuditEntry) { e.RequestID = "r2" }), true},
		"another id":             {entry(func(e *api.AuditEntry) { e.Details[api.DetailChange] = "d" }), false},
		"another actor":          {entry(func(e *api.AuditEntry) { e.Actor = "b" }), false},
		"an hour later":          {entry(func(e *api.AuditEntry) { e.Timestamp = at.Add(maxChangeTime) }), true},
		"more than an hour":      {entry(func(e *api.AuditEntry) { e.Timestamp = at.Add(maxChangeTime + 1) }), false},
		"a failure":              {entry(func(e *api.AuditEntry) { e.Status = api.AuditFailure }), false},
		"its undo":               {entry(func(e *api.AuditEntry) { e.Details["undoes"] = "7" }), false},
		"the node":               {entry(func(e *api.AuditEntry) { e.ActorType = api.ActorSystem }), false},
		"one request without id": {entry(func(e *api.AuditEntry) { e.Details = nil }), false},
	} {
		if got := sameChange(first, c.other); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	plain := entry(func(e *api.AuditEntry) { e.Details = nil })
	if !sameChange(plain, entry(func(e *api.AuditEntry) { e.Details = nil })) {
		t.Error("two entries of one request are not one change")
	}
}
