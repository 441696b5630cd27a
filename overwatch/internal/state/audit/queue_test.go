package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// openQueue returns a queue, its log and the output of the logger.
func openQueue(t *testing.T) (*audit.Queue, *audit.Log, *bytes.Buffer) {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var output bytes.Buffer
	log, err := audit.Open(audit.Options{Store: s, Retention: time.Hour, Logger: zerolog.New(&output)})
	if err != nil {
		t.Fatal(err)
	}
	return log.NewQueue(), log, &output
}

func written(t *testing.T, log *audit.Log, room audit.Room) (ids []string) {
	t.Helper()
	for e, err := range log.Oldest(room) {
		if err != nil || e.Actor != audit.ActorNode || e.ActorType != api.ActorSystem {
			t.Errorf("%+v, %v", e, err)
		}
		ids = append(ids, e.ResourceID)
	}
	return ids
}

// Run writes entries in order, and continues after the disk accepts them again. A failing room does not affect other
// rooms.
func TestQueue_RetriesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, log, output := openQueue(t)
		var accepts atomic.Bool
		for _, id := range []string{"a", "b"} {
			q.AddOrLog(audit.QueuedEntry{Change: audit.Change{Action: api.AuditExpire, ResourceID: id},
				Store: func(e store.Entry) error {
					if !accepts.Load() {
						return errors.New("the disk is full")
					}
					return log.Record(audit.Change{Action: api.AuditExpire, ResourceID: id, Actor: audit.ActorNode,
						ActorType: api.ActorSystem})
				}})
		}
		q.AddChange(audit.Change{Action: api.AuditHold, ResourceID: "c"})
		q.AddChange(audit.Change{Action: api.AuditRefused, ResourceID: "refused"})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- q.Run(ctx) }()
		synctest.Wait()
		if got := written(t, log, audit.Changes); len(got) != 0 {
			t.Errorf("written while the disk is full: %v", got)
		}
		if got := written(t, log, audit.Refusals); !slices.Equal(got, []string{"refused"}) {
			t.Errorf("refusals: %v", got)
		}
		if !strings.Contains(output.String(), "the disk is full") {
			t.Errorf("the log has no failure: %s", output)
		}
		accepts.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := written(t, log, audit.Changes); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("changes: %v", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestQueue_IsBoundedByRoom(t *testing.T) {
	q, log, output := openQueue(t)
	add := func(action string) (n int) {
		for q.Add(audit.QueuedEntry{Change: audit.Change{Action: action, ResourceID: fmt.Sprint(n)},
			Store: func(store.Entry) error { return nil }}) {
			n++
		}
		return n
	}
	if n := add(api.AuditRefused); n != audit.MaxQueuedRefusals {
		t.Errorf("%d refusals, want %d", n, audit.MaxQueuedRefusals)
	}
	if n := add(api.AuditHold); n != audit.MaxQueuedChanges {
		t.Errorf("%d changes beside the refusals, want %d", n, audit.MaxQueuedChanges)
	}
	q.AddChange(audit.Change{Action: api.AuditHold, ResourceID: "lost"})
	if !strings.Contains(output.String(), "the queue is full") || !strings.Contains(output.String(), "lost") {
		t.Errorf("the log does not name the lost entry: %s", output)
	}
	q.Flush()
	if !q.Add(audit.QueuedEntry{Change: audit.Change{Action: api.AuditHold, ResourceID: "next"}}) {
		t.Error("an empty queue is full")
	}
	q.Flush()
	if got := written(t, log, audit.Changes); !slices.Equal(got, []string{"next"}) {
		t.Errorf("written: %v", got)
	}
}
