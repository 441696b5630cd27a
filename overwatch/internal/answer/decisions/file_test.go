package decisions // inside: it uses restore and save

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/policy"
)

// process is a Recorder with its file and a test clock.
type process struct {
	*Recorder
	*FileStore
	log *strings.Builder
}

func startProcess(path string, at *time.Time) *process {
	r, log := New(1, func() time.Time { return *at }), &strings.Builder{}
	return &process{r, &FileStore{Recorder: r, Path: path, Logger: zerolog.New(log)}, log}
}

func TestKeeper_DecisionsAndFlowsSurviveARestart(t *testing.T) {
	path, at := filepath.Join(t.TempDir(), "decisions.json"), time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	first := startProcess(path, &at)
	s := first.NewSocketRecorder()
	note(s, input(7), 1, 1)
	note(s, input(8), 1, 0)
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	want := first.Decisions()
	at = at.Add(2 * time.Minute) // the same bucket
	second := startProcess(path, &at)
	if err := second.restore(); err != nil {
		t.Fatal(err)
	}
	note(second.NewSocketRecorder(), input(7), 1, 1)
	restored := second.Restored()
	if len(restored) != 2 || len(second.Decisions()) != 1 {
		t.Fatalf("%+v", restored)
	}
	d := restored[1]
	if old := want[1]; !d.At.Equal(old.At) || d.Domain != "d7.test." || d.Client != old.Client || d.ClientRegion != "eu" ||
		d.Server.Address.String() != "10.0.0.2" || d.Server.Region != "us" || d.Outcome != policy.Success ||
		d.ID == second.Decisions()[0].ID || d.ID != old.ID || !strings.HasSuffix(d.ID, "-0-1") {
		t.Errorf("%+v, %+v, want %+v", d, d.Server, old)
	}
	flows := second.Flows(time.Time{}, time.Time{})
	if len(flows) != 2 || flows[0].Flow != (Flow{"d7.test", "eu", "us"}) || flows[0].Count != 2 || flows[1].Count != 1 {
		t.Errorf("flows: %+v", flows)
	}
	if err := second.save(); err != nil { // across two restarts
		t.Fatal(err)
	}
	at = at.Add(FlowSpan - 3*time.Minute)
	third := startProcess(path, &at)
	if err := third.restore(); err != nil || len(third.Restored()) != 3 ||
		len(third.Flows(time.Time{}, time.Time{})) != 2 {
		t.Errorf("%v, %+v", err, third.Restored())
	}
	at = at.Add(time.Hour)
	late := startProcess(path, &at)
	if err := late.restore(); err != nil || len(late.Restored()) != 0 || len(late.Flows(time.Time{}, time.Time{})) != 0 {
		t.Errorf("after a day: %v, %+v", err, late.Restored())
	}
}

func TestKeeper_ItsFileIsBounded(t *testing.T) {
	path, at := filepath.Join(t.TempDir(), "decisions.json"), time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	p := startProcess(path, &at)
	p.restored = make([]Summary, 3*MaxSaved)
	for i := range 3 {
		b := &bucket{at.Add(time.Duration(i-3) * FlowBucket), map[Flow]*tally{}}
		for n := range MaxSavedFlows/2 + 1 {
			flow := Flow{Domain: string(rune('a' + i)), Source: time.Duration(n).String()}
			b.counts[flow] = &tally{1, at}
		}
		p.flows.buckets = append(p.flows.buckets, b)
	}
	s := p.snapshot()
	if len(s.Decisions) != MaxSaved || len(s.Flows) != 1 || !s.Flows[0].Begin.Equal(p.flows.buckets[2].begin) {
		t.Errorf("%d decisions, %d buckets", len(s.Decisions), len(s.Flows))
	}
}

func TestKeeper_ADamagedFileIsLoggedAndReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.json")
	if err := os.WriteFile(path, []byte(`{"decisions":[{`), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		at := time.Now()
		p := startProcess(path, &at)
		ctx, cancel := context.WithTimeout(t.Context(), SaveInterval+time.Second)
		defer cancel()
		if err := p.FileStore.Run(ctx); err != nil || !strings.Contains(p.log.String(), "damaged") {
			t.Errorf("%v, %s", err, p.log)
		}
	})
	if text, err := os.ReadFile(path); err != nil || string(text) != `{"decisions":[],"flows":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}
