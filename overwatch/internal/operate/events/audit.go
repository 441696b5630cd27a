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

// FollowAuditLog creates events for new entries of the audit log until ctx ends. It begins after the last entry with an
// event in the journal. It is separate from Run, which must not wait for the disk. It returns nil.
func (w *Watcher) FollowAuditLog(ctx context.Context) error {
	next := map[audit.Room]uint64{}
	for room, entry := range w.lastAuditEntries() {
		next[room] = entry
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		for _, room := range []audit.Room{audit.Changes, audit.Refusals} {
			last, err := w.addAuditEntries(room, next)
			if err != nil {
				w.o.Logger.Error().Err(err).Msg("audit log: reading failed, events of its changes are delayed")
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

// lastAuditEntries returns the last entry of each room of the audit log that has an event in the journal.
func (w *Watcher) lastAuditEntries() map[audit.Room]uint64 {
	last := map[audit.Room]uint64{}
	stored, _ := w.o.Journal.After(0)
	for _, e := range stored {
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

// addAuditEntries adds the events of a room's entries after the entry in next. It returns the number of the last entry.
func (w *Watcher) addAuditEntries(room audit.Room, next map[audit.Room]uint64) (last uint64, err error) {
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
		if event, isEvent := eventOf(&fresh[i]); isEvent {
			w.o.Journal.Add(event)
		}
	}
	return last, nil // lower than from after a replacement of the store
}

// eventOf returns the event of an audit entry. isEvent is false for entries about admin states, holds and keys, because
// their states have events.
func eventOf(e *api.AuditEntry) (event api.Event, isEvent bool) {
	event = api.Event{State: e.Action, Severity: api.EventInfo, Subject: cmp.Or(e.ResourceID, e.Resource),
		Cause: "by " + e.Actor, Audit: e.ID, Time: e.Timestamp}
	failed := e.Status == api.AuditFailure
	switch e.Action {
	case api.AuditReload:
		event.Kind, event.State, event.Subject = api.EventReload, "done", "configuration"
		event.Sentence = "the configuration was reloaded by " + e.Actor
		if failed {
			event.State, event.Severity, event.Cause = "failed", api.EventError, e.Details["error"]
			event.Sentence = "the reload of the configuration failed: " + e.Details["error"]
		}
		return event, true
	case api.AuditRefused:
		event.Kind, event.Cause = api.EventRefused, e.Details["error"]
		event.Sentence = fmt.Sprintf("%s %s of %s was rejected: %s", e.Resource, e.ResourceID, e.ActorIP, e.Details["error"])
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
