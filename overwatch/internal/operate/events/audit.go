package events

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Follow makes events of the entries that come into the audit log, until ctx ends. It begins behind the newest entry
// that the journal has an event of. It is apart from Run, which must not wait for a disk. It returns nil.
func (w *Watcher) Follow(ctx context.Context) error {
	next := map[audit.Room]uint64{}
	for room, entry := range w.lastAudited() {
		next[room] = entry
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		for _, room := range []audit.Room{audit.Changes, audit.Refusals} {
			last, err := w.follow(room, next)
			if err != nil {
				w.o.Logger.Error().Err(err).Msg("the audit log cannot be read: its changes are not among the events")
				continue
			}
			next[room] = last
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// lastAudited returns the newest entry of each room that the journal has an event of.
func (w *Watcher) lastAudited() map[audit.Room]uint64 {
	last := map[audit.Room]uint64{}
	kept, _ := w.o.Journal.After(0)
	for _, e := range kept {
		room := audit.Changes
		if e.Audit >= api.FirstRefusal {
			room = audit.Refusals
		}
		if e.Audit > 0 {
			last[room] = e.Audit
		}
	}
	return last
}

// follow makes events of the audit entries of a room that came after the entry in next, and returns the number of the
// newest entry.
func (w *Watcher) follow(room audit.Room, next map[audit.Room]uint64) (last uint64, err error) {
	from, known := next[room]
	var fresh []api.AuditEntry
	for e, err := range w.o.Audit.Newest(room) {
		if err != nil {
			return from, err
		}
		last = max(last, e.ID)
		if !known || e.ID <= from || len(fresh) == audit.MaxRefusals {
			break
		}
		fresh = append(fresh, e)
	}
	for i := len(fresh) - 1; i >= 0; i-- {
		if event, told := ofEntry(&fresh[i]); told {
			w.o.Journal.Add(event)
		}
	}
	return last, nil // one before from: the store was replaced, and its audit log is another one
}

// ofEntry returns the event of an audit entry. told is false for entries about orders, brakes and keys: their state
// makes the events.
func ofEntry(e *api.AuditEntry) (event api.Event, told bool) {
	event = api.Event{State: e.Action, Severity: api.EventInfo, Subject: cmp.Or(e.ResourceID, e.Resource),
		Cause: "by " + e.Actor, Audit: e.ID, Time: e.Timestamp}
	failed := e.Status == api.AuditFailure
	switch e.Action {
	case api.AuditReload:
		event.Kind, event.State, event.Subject = api.EventReload, "done", "configuration"
		event.Sentence = "the configuration was read again by " + e.Actor
		if failed {
			event.State, event.Severity, event.Cause = "failed", api.EventError, e.Details["error"]
			event.Sentence = "the configuration could not be read again: " + e.Details["error"]
		}
		return event, true
	case api.AuditRefused:
		event.Kind, event.Cause = api.EventRefused, e.Details["error"]
		event.Sentence = fmt.Sprintf("%s %s of %s was refused: %s", e.Resource, e.ResourceID, e.ActorIP, e.Details["error"])
		if e.Resource == "agent" {
			event.Severity = api.EventWarning
		}
		return event, true
	case api.AuditCreate, api.AuditUpdate, api.AuditDelete, api.AuditApply, api.AuditRevoke, api.AuditSync:
		event.Kind = api.EventChange
		if e.Resource == "domain" {
			event.Name = e.ResourceID
		}
		event.Sentence = fmt.Sprintf("%s: %s by %s", strings.TrimSpace(e.Resource+" "+e.ResourceID), e.Action, e.Actor)
		return event, !failed && e.Resource != "dnssec"
	}
	return event, false
}
