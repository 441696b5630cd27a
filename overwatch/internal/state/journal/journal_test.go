package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

func open(path string) *journal.Journal {
	return journal.Open(journal.Options{Path: path, Logger: zerolog.Nop()})
}

// keep runs a journal until all its events are written.
func keep(t *testing.T, j *journal.Journal) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func add(j *journal.Journal, subject string, phase api.Phase) {
	j.Add(api.Event{Kind: api.EventBackend, Subject: subject, Phase: phase})
}

func sequences(events []api.Event) (list []uint64) {
	for _, e := range events {
		list = append(list, e.Sequence)
	}
	return list
}

// A reader continues after its last event, even in another process. Two processes never use the same number.
func TestJournal_GoesOnAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	first := open(path)
	add(first, "a", api.PhaseBegins)
	add(first, "b", api.PhaseBegins)
	add(first, "b", api.PhaseEnds)
	keep(t, first)
	second := open(path)
	add(second, "c", "")
	for after, want := range map[uint64]string{0: "[1 2 3 1000001]", 2: "[3 1000001]", 3: "[1000001]", 1000001: "[]",
		// This number was assigned and lost with the disk.
		17: "[1000001]"} {
		got, missed := second.After(after)
		if fmt.Sprint(sequences(got)) != want || missed {
			t.Errorf("after %d: %v, missed %v, want %s", after, sequences(got), missed, want)
		}
	}
	if got, missed := second.After(1000002); len(got) != 4 || !missed {
		t.Errorf("after what was never given: %v, missed %v", sequences(got), missed)
	}
	if standing := second.ActiveStates(); len(standing) != 1 || standing["backend a"].Sequence != 1 {
		t.Errorf("standing: %v", standing)
	}
}

// Memory and file have a maximum size, current states are always kept, and a late reader receives a message about
// missing events.
func TestJournal_IsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j := open(path)
	add(j, "stands", api.PhaseBegins)
	for range 2*journal.Kept + 500 {
		add(j, "s", "")
	}
	j.Add(api.Event{Kind: api.EventChange, Subject: "s", Sentence: strings.Repeat("ü", 5000)})
	keep(t, j)
	kept, missed := j.After(1)
	if len(kept) != journal.Kept || !missed || len(kept[journal.Kept-1].Sentence) > 1024 {
		t.Errorf("%d events, missed %v, the last is %d octets", len(kept), missed, len(kept[len(kept)-1].Sentence))
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 8<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	again := open(path)
	if standing := again.ActiveStates(); len(standing) != 1 {
		t.Errorf("standing: %v", standing)
	}
	if got, _ := again.After(0); len(got) != journal.Kept || got[0].Sequence != kept[0].Sequence {
		t.Errorf("after the restart: %d events, the first is %d, want %d", len(got), got[0].Sequence, kept[0].Sequence)
	}
}

// If the kept events alone exceed the target size of the file, the journal still appends to the file.
func TestJournal_AppendsToALargeFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		j := open(path)
		for range journal.Kept {
			j.Add(api.Event{Kind: api.EventBackend, Subject: "s", Sentence: strings.Repeat("x", 1000)})
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		before, err := os.Stat(path)
		add(j, "s", "")
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		after, later := os.Stat(path)
		if err != nil || later != nil || before.Size() < 8<<20 || !os.SameFile(before, after) ||
			after.Size() <= before.Size() {
			t.Errorf("%v, %v; %v, %v", before, err, after, later)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Events that the disk does not accept stay readable, are counted, and are written when the disk has space.
func TestJournal_WaitsForTheDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	path := filepath.Join(dir, "events.jsonl")
	synctest.Test(t, func(t *testing.T) {
		j := open(path)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		add(j, "a", "")
		synctest.Wait()
		if got, _ := j.After(0); len(got) != 1 || j.Unstored() != 1 {
			t.Errorf("%d events, %d unstored", len(got), j.Unstored())
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if j.Unstored() != 0 {
			t.Errorf("%d unstored though there is room", j.Unstored())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if got, _ := open(path).After(0); len(got) != 1 {
		t.Errorf("%d events in the file", len(got))
	}
}

// A truncated line, for example after a kill, and a foreign line are omitted without effect on other lines.
func TestJournal_ReadsADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j := open(path)
	for range 3 {
		add(j, "a", "")
	}
	keep(t, j)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for name, tc := range map[string]struct {
		text string
		want string
	}{
		"cut":     {lines[0] + lines[1] + lines[2][:20], "[1 2]"},
		"foreign": {lines[0] + "{}\n" + lines[2], "[1 3]"},
		"binary":  {"\x00\x01\n", "[]"},
		"huge":    {lines[0] + strings.Repeat("x", 1<<20), "[1]"},
		"twice":   {lines[0] + lines[1] + lines[0], "[1 2]"},
	} {
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(path)
		if got, _ := again.After(0); fmt.Sprint(sequences(got)) != tc.want {
			t.Errorf("%s: %v, want %s", name, sequences(got), tc.want)
		}
		add(again, "b", "")
		keep(t, again)
		if got, _ := open(path).After(0); len(got) == 0 || got[len(got)-1].Subject != "b" {
			t.Errorf("%s: what came after it is not kept: %v", name, got)
		}
	}
}
