package audit // inside: it looks at prune and verify

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// written opens a log over a real store and records n changes.
func written(t *testing.T, n int, now func() time.Time) (*Log, *store.Store) {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l, err := Open(Options{Store: s, Retention: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := l.Record(Change{Action: "update", Resource: "domain", After: map[string]string{"name": "a<b>"},
			Duration: 1234 * time.Microsecond}); err != nil {
			t.Fatal(err)
		}
	}
	return l, s
}

func TestVerify_FindsAnEditedARemovedAndAMovedEntry(t *testing.T) {
	put := func(t *testing.T, s *store.Store, id uint64, e api.AuditEntry) {
		value, err := json.Marshal(e)
		at := func(uint64, []byte) (uint64, []byte, error) { return id, value, nil }
		if err = errors.Join(err, s.Changes().Append(at)); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		spoil func(*testing.T, *Log, *store.Store)
		says  string
	}{
		"sound": {func(*testing.T, *Log, *store.Store) {}, ""},
		"edited": {func(t *testing.T, l *Log, s *store.Store) {
			e, _ := l.Get(3)
			e.Status = api.AuditFailure
			put(t, s, 3, e)
		}, "entry 3 was changed"},
		"edited with a new hash": {func(t *testing.T, l *Log, s *store.Store) {
			e, _ := l.Get(3)
			e.Status = api.AuditFailure
			e.Hash, _ = e.Sum()
			put(t, s, 3, e)
		}, "entry 4 does not continue"},
		"removed": {func(t *testing.T, _ *Log, s *store.Store) {
			if err := s.Changes().Delete([]uint64{3}); err != nil {
				t.Fatal(err)
			}
		}, "entry 4 follows entry 2"},
		"moved": {func(t *testing.T, l *Log, s *store.Store) {
			third, _ := l.Get(3)
			fourth, _ := l.Get(4)
			put(t, s, 3, fourth)
			put(t, s, 4, third)
		}, "out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			l, s := written(t, 5, nil)
			test.spoil(t, l, s)
			err := l.verify()
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

func TestOpen_ContinuesTheChain(t *testing.T) {
	_, s := written(t, 2, nil)
	l, err := Open(Options{Store: s, Retention: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Record(Change{Action: "delete", Err: errors.New("no")}), l.verify()); err != nil {
		t.Error(err)
	}
	if e, err := l.Get(3); err != nil || e.Status != api.AuditFailure || e.Details["error"] != "no" {
		t.Errorf("%+v %v", e, err)
	}
	if _, err := l.Get(4); !errors.Is(err, ErrNoEntry) {
		t.Errorf("entry 4: %v", err)
	}
}

// Refusals are numbered and chained apart, and bounded apart: changes stay where they are.
func TestRecord_RefusalsHaveARoomOfTheirOwn(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l, s := written(t, 2, func() time.Time { return now })
	l.rooms[Refusals].max = 3
	for range 5 {
		if err := l.Record(Change{Action: api.AuditRefused, Resource: "request", Err: errors.New("401")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Record(Change{Action: "delete"}), l.prune(t.Context()), l.verify()); err != nil {
		t.Fatal(err)
	}
	for r, want := range map[Room][]uint64{Changes: {1, 2, 3},
		Refusals: {api.FirstRefusal + 2, api.FirstRefusal + 3, api.FirstRefusal + 4}} {
		var got []uint64
		for e, err := range l.Oldest(r) {
			if err != nil || (e.Action == api.AuditRefused) != (r == Refusals) {
				t.Errorf("%+v %v", e, err)
			}
			got = append(got, e.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("room %d has %v, want %v", r, got, want)
		}
	}
	if e, err := l.Get(api.FirstRefusal + 4); err != nil || e.Details["error"] != "401" {
		t.Errorf("%+v %v", e, err)
	}
	again, err := Open(Options{Store: s, Retention: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Record(Change{Action: api.AuditRefused}), again.verify()); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

func TestPrune_DeletesWhatIsTooOldAndTheChainGoesOn(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l, _ := written(t, 3, func() time.Time { return now })
	now = now.Add(2 * time.Hour)
	if err := errors.Join(l.Record(Change{Action: "delete"}), l.prune(t.Context()), l.verify()); err != nil {
		t.Fatal(err)
	}
	var left []uint64
	for e, err := range l.Oldest(Changes) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, e.ID)
	}
	if len(left) != 1 || left[0] != 4 {
		t.Errorf("left: %v", left)
	}
}
