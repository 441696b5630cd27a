package events // inside: it calls follow as Follow does

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// The audit log of a replaced store begins before the entries of the journal. Its new entries have events.
func TestFollow_ALogThatWasReplacedIsFollowedFromItsEnd(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	log, err := audit.Open(audit.Options{Store: s, Retention: 1})
	if err != nil {
		t.Fatal(err)
	}
	kept := journal.Open(journal.Options{Path: filepath.Join(t.TempDir(), "e"), Logger: zerolog.Nop()})
	kept.Add(api.Event{Kind: api.EventChange, Audit: 10})
	w := &Watcher{o: Options{Journal: kept, Audit: log}}
	created := audit.Change{Action: api.AuditCreate, Resource: "domain", ResourceID: "a.example"}
	if err := errors.Join(log.Record(created), log.Record(created)); err != nil {
		t.Fatal(err)
	}
	next := w.lastAuditEntries()
	look := func(events int) {
		t.Helper()
		if next[audit.Changes], err = w.addAuditEntries(audit.Changes, next); err != nil {
			t.Fatal(err)
		}
		if told, _ := kept.After(0); len(told) != events {
			t.Errorf("the journal has %d events, want %d", len(told), events)
		}
	}
	look(1)
	if err := log.Record(created); err != nil {
		t.Fatal(err)
	}
	look(2)
	if told, _ := kept.After(0); told[len(told)-1].Audit != 3 {
		t.Errorf("told: %+v", told)
	}
}
