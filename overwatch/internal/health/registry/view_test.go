package registry // inside: it uses agent and idOf

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

func TestView_ServicesInStableOrderAndByAnySpelling(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{
			static("b:10.0.0.9:80"), static("a:10.0.0.10:80"), static("a:10.0.0.9:81"), static("a:10.0.0.9:80"),
			static("a:::1:80"),
		}))
		var got []string
		for _, b := range w.View().Service("A.") {
			got = append(got, b.ID.String())
		}
		if want := []string{"a:10.0.0.9:80", "a:10.0.0.9:81", "a:10.0.0.10:80", "a:::1:80"}; !slices.Equal(got, want) {
			t.Errorf("order is %v, want %v", got, want)
		}
		if got := w.View().Services(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("services are %v", got)
		}
		if w.View().Service("c") != nil {
			t.Error("a service that does not exist has backends")
		}
	})
}

func TestView_TargetsGenerationMovesWithTheTargetsOnly(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		last := w.View().CheckTargetsGeneration()
		moves := func(want bool, what string) {
			t.Helper()
			now := w.View().CheckTargetsGeneration()
			if (now != last) != want {
				t.Errorf("%s: generation %d after %d", what, now, last)
			}
			last = now
		}
		d := static(a1)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{d}))
		moves(true, "a new backend")
		w.verdict(a1, check.Success)
		moves(false, "a verdict")
		d.Weight = 5
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{d}))
		moves(false, "a weight")
		spec := tcp
		spec.Timeout = time.Second
		d.Check = unique.Make(spec)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{d}))
		moves(true, "another check")
		w.must(w.SetStaticDeclarations(w.ctx(), nil))
		moves(true, "a backend that is gone")
	})
}

func TestView_PublishedRecordsNeverChange(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		list := w.View().Service("a.example")
		before := *list[0]
		w.verdict(a1, check.Success)
		_, err := w.SetDrain(w.ctx(), id(a1), time.Second)
		w.must(err)
		w.must(w.SetStaticDeclarations(w.ctx(), nil))
		if *list[0] != before {
			t.Error("a record that a reader holds was changed")
		}
	})
}

// TestView_ReadersAndWriterTogether runs concurrent readers and a writer for the race detector.
func TestView_ReadersAndWriterTogether(t *testing.T) {
	authority := newAuthority(t)
	agents := []struct{ name, service string }{{"one", "a.example"}, {"two", "b.example"}, {"three", "c.example"}}
	registry, err := New(Options{Timing: validating, Changed: func(string) {}, Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				v := registry.View()
				for b := range v.Backends() {
					_ = b.Report()
					_ = v.Get(b.ID)
				}
				_, _, _ = v.Agents(), v.Services(), v.CheckTargets()
			}
		})
	}
	for _, a := range agents {
		from := authority.agent(a.name, "eu", a.service)
		writers.Go(func() {
			for i := range 300 {
				said := claims(fmt.Sprintf("%s:10.0.0.%d:80 %s", a.service, i%3+1,
					[]string{"healthy", "unhealthy", "draining"}[i%3]))
				if _, err := registry.ApplyHeartbeat(ctx, from, &wire.Heartbeat{Backends: said}); err != nil {
					t.Error(err)
				}
				_ = registry.ApplyCheckResult(ctx, CheckResult{ID: idOf(&said[0]), State: check.StateHealthy,
					Outcome: check.Success})
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestReading_AllocatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t}
		w.disk.records = make(map[ID]store.Status)
		w.start(Options{Timing: notValidating})
		defer func() { w.stop() }()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a2)}))
		view, one := w.View(), id(a1)
		if n := testing.AllocsPerRun(100, func() {
			if len(view.Service("a.example")) != 2 || view.Get(one) == nil {
				t.Error("not found")
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
