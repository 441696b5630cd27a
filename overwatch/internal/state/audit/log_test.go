package audit // inside: it looks at prune, verify and walk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// written opens a log of a real store and records n changes.
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

// Refusals and changes of other nodes have separate numbers, chains and limits: they do not displace changes.
func TestRecord_RefusalsAndReceivedChangesHaveRoomsOfTheirOwn(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l, s := written(t, 2, func() time.Time { return now })
	l.rooms[Refusals].max, l.rooms[Received].max = 3, 2
	for range 5 {
		if err := l.Record(Change{Action: api.AuditRefused, Resource: "request", Err: errors.New("401")}); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(Change{Action: api.AuditReceive, Resource: "domain", Actor: "ow-2", Peer: "ow-3"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Record(Change{Action: "delete"}), l.prune(t.Context(), time.Time{}), l.verify()); err != nil {
		t.Fatal(err)
	}
	for r, want := range map[Room][]uint64{Changes: {1, 2, 3},
		Refusals: {api.FirstRefusal + 2, api.FirstRefusal + 3, api.FirstRefusal + 4},
		Received: {api.FirstReceived + 3, api.FirstReceived + 4}} {
		var got []uint64
		for e, err := range l.Oldest(r) {
			if err != nil || RoomOf(e.Action) != r {
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
	if e, err := l.Get(api.FirstReceived + 4); err != nil || e.Actor != "ow-2" || e.Details["peer"] != "ow-3" {
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

// Outdated entries are deleted, and the chain continues. A wrong clock at the start deletes nothing until it is
// corrected.
func TestRun_DeletesWhatIsTooOldByAClockThatIsRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		l, _ := written(t, 3, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
		left := func(when string, want ...uint64) {
			t.Helper()
			synctest.Wait()
			var got []uint64
			for e, err := range l.Oldest(Changes) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, e.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v are left, want %v", when, got, want)
			}
		}
		ahead.Store(int64(400 * 24 * time.Hour))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		time.Sleep(pruneEvery / 2)
		left("at the start", 1, 2, 3)
		ahead.Store(0)
		time.Sleep(pruneEvery)
		left("after a jump", 1, 2, 3)
		time.Sleep(pruneEvery)
		left("an hour later", 3)
		if err := l.Record(Change{Action: "delete"}); err != nil {
			t.Error(err)
		}
		time.Sleep(pruneEvery)
		left("in the end", 4)
		cancel()
		if err := errors.Join(<-ended, l.verify()); err != nil {
			t.Error(err)
		}
	})
}

// A reader of the newest entry in each second does not cause a read of hundreds of entries.
func TestNewest_ReadsWhatIsLookedAt(t *testing.T) {
	var asked []int
	read := func(at uint64, count int) (values [][]byte, err error) {
		asked = append(asked, count)
		for i := range min(uint64(count), at-1) {
			values = append(values, fmt.Appendf(nil, `{"id":%d}`, at-1-i))
		}
		return values, nil
	}
	id := func(e api.AuditEntry) uint64 { return e.ID }
	for range walk(1001, read, id) {
		break
	}
	if len(asked) != 1 || asked[0] != 1 {
		t.Errorf("for one entry %v were asked for", asked)
	}
	want := uint64(1000)
	for e, err := range walk(1001, read, id) {
		if err != nil || e.ID != want {
			t.Fatalf("entry %d, %v, want %d", e.ID, err, want)
		}
		want--
	}
	if want != 0 {
		t.Errorf("%d entries are left", want)
	}
}
