package predict // inside: it uses errFirstReading and secondReading

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

// scene is a Watch whose measurements the test sets.
type scene struct {
	*Watch
	mu          sync.Mutex // of the figures
	cpu, memory float64
	err         error
	failures    map[Target]uint64
	changes     atomic.Int32
	log         logtest.Buffer
	registry    *prometheus.Registry
	half        bool          // the next reading of the processor is a first one
	interval    time.Duration // 0: 10s
	readings    []time.Time   // of the processor
}

func (s *scene) CPU(context.Context) (float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readings = append(s.readings, time.Now())
	if s.half {
		s.half = false
		return 0, errFirstReading
	}
	return s.cpu, s.err
}

func (s *scene) Memory(context.Context) (float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory, s.err
}

func (s *scene) failed() map[Target]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// set changes the measurements.
func (s *scene) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

var target = Target{"app.example.org", netip.MustParseAddrPort("192.0.2.1:80")}

// inScene runs a test with a Watch with the specification's reference values, in virtual time.
func inScene(t *testing.T, enabled bool, test func(s *scene)) {
	t.Helper()
	inSceneOf(t, &scene{}, enabled, test)
}

// inSceneOf is inScene with initial measurements.
func inSceneOf(t *testing.T, s *scene, enabled bool, test func(s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.failures, s.registry = map[Target]uint64{target: 0}, prometheus.NewRegistry()
		w, err := New(Options{
			Predictive: config.Predictive{
				Enabled: enabled, CheckInterval: cmp.Or(s.interval, 10*time.Second),
				CPU:       config.CPU{Threshold: 85, BleedDuration: 30 * time.Second},
				Memory:    config.Memory{Threshold: 90, BleedDuration: 31 * time.Second},
				ErrorRate: config.ErrorRate{Threshold: 10, BleedDuration: time.Minute, Window: time.Minute},
			},
			Meter: s, Failures: s.failed, Registerer: s.registry, Logger: zerolog.New(&s.log),
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Watch = w
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go w.Run(ctx, func() { s.changes.Add(1) })
		s.pass(time.Second)
		test(s)
	})
}

// pass waits in virtual time.
func (s *scene) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *scene) active(t *testing.T, signal string) float64 {
	t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "gslb_agent_signal_active" && m.GetLabel()[0].GetValue() == signal {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric for %s", signal)
	return 0
}

func TestWatch_LoadAtTheStartIsToldAfterASecond(t *testing.T) {
	inSceneOf(t, &scene{half: true, cpu: 97}, true, func(s *scene) {
		if got := s.Warnings(target); got != (wire.Warnings{CPUMillis: 30_000}) || s.changes.Load() != 1 {
			t.Errorf("%+v after %d changes", got, s.changes.Load())
		}
		s.pass(10 * time.Second)
		s.set(func() { s.half = true }) // a container got a limit, or lost it
		s.pass(11 * time.Second)
		s.pass(9 * time.Second)
		if got, want := s.gaps(), []time.Duration{secondReading, 10 * time.Second, 10 * time.Second,
			secondReading}; !slices.Equal(got, want) {
			t.Errorf("readings %v apart, want %v", got, want)
		}
	})
}

func TestWatch_SecondReadingIsNotOneMoreAtTheSameMoment(t *testing.T) {
	for range 20 { // whichever timer is seen first
		inSceneOf(t, &scene{half: true, cpu: 97, interval: secondReading}, true, func(s *scene) {
			s.pass(3 * time.Second)
			if got, want := s.gaps(), []time.Duration{time.Second, time.Second, time.Second, time.Second}; !slices.Equal(got,
				want) {
				t.Errorf("readings %v apart, want %v", got, want)
			}
		})
	}
}

// gaps returns the times between two readings of the processor.
func (s *scene) gaps() (list []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, at := range s.readings[1:] {
		list = append(list, at.Sub(s.readings[i]))
	}
	return list
}

func TestWatch_LoadSetsAWarningForEveryBackendAndItsEndClearsIt(t *testing.T) {
	inScene(t, true, func(s *scene) {
		if got := s.Warnings(target); got != (wire.Warnings{}) || s.changes.Load() != 0 {
			t.Fatalf("%+v at the start", got)
		}
		s.set(func() { s.cpu = 97 })
		s.pass(10 * time.Second)
		if got := s.Warnings(target); got != (wire.Warnings{CPUMillis: 30_000}) || s.changes.Load() != 1 ||
			s.active(t, "cpu") != 1 {
			t.Errorf("%+v after %d changes", got, s.changes.Load())
		}
		s.set(func() { s.memory = 95 })
		s.pass(10 * time.Second)
		if got := s.Warnings(Target{}); got != (wire.Warnings{CPUMillis: 30_000, MemoryMillis: 31_000}) ||
			s.changes.Load() != 2 {
			t.Errorf("%+v after %d changes", got, s.changes.Load())
		}
		s.set(func() { s.cpu, s.memory = 80, 86 }) // the processor is 5 points below, memory only 4
		s.pass(10 * time.Second)
		if s.changes.Load() != 2 {
			t.Error("cleared after one check")
		}
		s.pass(10 * time.Second)
		if got := s.Warnings(target); got != (wire.Warnings{MemoryMillis: 31_000}) || s.changes.Load() != 3 ||
			s.active(t, "cpu") != 0 {
			t.Errorf("%+v after %d changes", got, s.changes.Load())
		}
		if cpu, memory := s.Figures(); cpu != 80 || memory != 86 {
			t.Errorf("figures %v, %v", cpu, memory)
		}
		if lines := strings.Count(s.log.String(), "\n"); lines != 3 {
			t.Errorf("%d lines for 3 changes:\n%s", lines, s.log.String())
		}
	})
}

func TestWatch_FailingChecksWarnOfTheirBackendOnly(t *testing.T) {
	other := Target{"app.example.org", netip.MustParseAddrPort("192.0.2.2:80")}
	inScene(t, true, func(s *scene) {
		for range 6 {
			s.set(func() { s.failures = map[Target]uint64{target: s.failures[target] + 2, other: 0} })
			s.pass(10 * time.Second)
		}
		if got := s.Warnings(target); got != (wire.Warnings{ErrorRateMillis: 60_000}) || s.changes.Load() != 1 ||
			s.active(t, "error_rate") != 1 {
			t.Errorf("12 failures in a minute: %+v after %d changes", got, s.changes.Load())
		}
		if got := s.Warnings(other); got != (wire.Warnings{}) {
			t.Errorf("the other backend: %+v", got)
		}
		s.pass(70 * time.Second)
		if got := s.Warnings(target); got != (wire.Warnings{}) || s.changes.Load() != 2 || s.active(t, "error_rate") != 0 {
			t.Errorf("a quiet minute later: %+v after %d changes", got, s.changes.Load())
		}
	})
}

func TestWatch_ABackendThatGoesTakesItsWarningAlong(t *testing.T) {
	inScene(t, true, func(s *scene) {
		s.set(func() { s.failures = map[Target]uint64{target: 50} })
		s.pass(10 * time.Second)
		s.set(func() { s.failures = nil })
		s.pass(10 * time.Second)
		if got := s.Warnings(target); got != (wire.Warnings{}) || s.active(t, "error_rate") != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestWatch_SwitchedOffItMeasuresAndDoesNotWarn(t *testing.T) {
	inScene(t, false, func(s *scene) {
		s.set(func() { s.cpu, s.memory, s.failures = 100, 100, map[Target]uint64{target: 1000} })
		s.pass(time.Minute)
		cpu, memory := s.Figures()
		if got := s.Warnings(target); got != (wire.Warnings{}) || s.changes.Load() != 0 || cpu != 100 || memory != 100 {
			t.Errorf("%+v, figures %v %v", got, cpu, memory)
		}
	})
}

func TestWatch_WhatCannotBeMeasuredIsToldOnceAndKeepsItsSignal(t *testing.T) {
	inScene(t, true, func(s *scene) {
		s.set(func() { s.cpu = 100 })
		s.pass(10 * time.Second)
		s.set(func() { s.err = errors.New("no such file") })
		s.pass(time.Hour)
		if got := s.Warnings(target); got.CPUMillis == 0 {
			t.Error("the warning was cleared without a measurement")
		}
		if n := strings.Count(s.log.String(), "cannot be measured"); n != 2 {
			t.Errorf("told %d times for 2 figures", n)
		}
		if cpu, memory := s.Figures(); cpu != 0 || memory != 0 {
			t.Errorf("figures %v, %v", cpu, memory)
		}
		families, err := s.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if family.GetName() == "gslb_agent_resource_percent" {
				t.Errorf("figures of before are shown: %v", family)
			}
		}
	})
}

func TestNew_NamesWhatIsMissing(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("a Watch without anything")
	}
	if _, err := New(Options{Meter: &scene{}, Failures: func() map[Target]uint64 { return nil },
		Registerer: prometheus.NewRegistry()}); err == nil {
		t.Error("a Watch without an interval")
	}
}
