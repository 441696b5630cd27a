package validation // inside: it uses prober

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

const (
	interval = 30 * time.Second
	timeout  = 5 * time.Second
)

// settingsOf returns the settings of most tests. A value below 0 disables checks.
func settingsOf(concurrency int) Settings {
	return Settings{Enabled: concurrency >= 0, Interval: interval, Timeout: timeout, Concurrency: max(concurrency, 0)}
}

// world contains the targets, the backends and the registry of one test.
type world struct {
	mu         sync.Mutex
	generation atomic.Uint64
	targets    []registry.CheckTarget
	listing    time.Duration // duration of a call of CheckTargets
	// answer returns the result of a probe of a backend. If it is nil, each probe succeeds immediately.
	answer func(ctx context.Context, id registry.ID) check.Result

	starts  map[registry.ID][]time.Time
	reports []registry.CheckResult
	running int
	most    int // maximum number of running checks
}

func (w *world) CheckTargetsGeneration() uint64 { return w.generation.Load() }

func (w *world) CheckTargets() []registry.CheckTarget {
	time.Sleep(w.listing) // virtual
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.targets
}

func (w *world) set(targets ...registry.CheckTarget) {
	w.mu.Lock()
	w.targets = targets
	w.mu.Unlock()
	w.generation.Add(1)
}

// fail makes every later check fail.
func (w *world) fail() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = func(context.Context, registry.ID) check.Result {
		return check.Result{Outcome: check.Failure, Err: "refused", At: time.Now()}
	}
}

func (w *world) report(_ context.Context, v registry.CheckResult) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports = append(w.reports, v)
	return nil
}

func (w *world) verdicts(id registry.ID) []registry.CheckResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []registry.CheckResult
	for _, v := range w.reports {
		if v.ID == id {
			found = append(found, v)
		}
	}
	return found
}

// told returns the number of reported results.
func (w *world) told() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.reports)
}

// load returns the current and the maximum number of concurrent checks.
func (w *world) load() (running, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running, w.most
}

func (w *world) started(id registry.ID) []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.starts[id]...)
}

// fake is the prober of one target.
type fake struct {
	w  *world
	id registry.ID
}

func (f fake) Probe(ctx context.Context) check.Result {
	f.w.mu.Lock()
	f.w.starts[f.id] = append(f.w.starts[f.id], time.Now())
	f.w.running++
	f.w.most = max(f.w.most, f.w.running)
	answer := f.w.answer
	f.w.mu.Unlock()
	defer func() {
		f.w.mu.Lock()
		defer f.w.mu.Unlock()
		f.w.running--
	}()
	if answer == nil {
		return check.Result{Outcome: check.Success, Latency: time.Millisecond, At: time.Now()}
	}
	return answer(ctx, f.id)
}

func newWorld(targets ...registry.CheckTarget) *world {
	w := &world{starts: map[registry.ID][]time.Time{}}
	w.set(targets...)
	return w
}

// run starts a Validator of the world. The Validator stops at the end of the test.
func (w *world) run(t *testing.T, concurrency int) *Validator {
	t.Helper()
	v, err := New(Options{
		Targets: w, Report: w.report, Settings: settingsOf(concurrency),
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	v.newProber = func(target registry.CheckTarget) (prober, error) {
		if _, err := v.networkProber(target); err != nil {
			return nil, err
		}
		return fake{w, target.ID}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := v.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return v
}

func target(n int) registry.CheckTarget {
	return registry.CheckTarget{
		ID: registry.ID{Service: "app.example.org",
			Address: netip.AddrFrom4([4]byte{192, byte(n >> 16), byte(n >> 8), byte(n)}), Port: 80},
		Spec: check.Spec{Type: check.TCP, FailureThreshold: 3, SuccessThreshold: 2},
	}
}

// evenTarget is a target without a faster interval.
func evenTarget(n int) registry.CheckTarget {
	t := target(n)
	t.Spec.FastInterval = interval
	return t
}

// failedGaps returns the times between consecutive failed checks of a backend.
func (w *world) failedGaps(id registry.ID) (gaps []time.Duration) {
	var last time.Time
	for _, v := range w.verdicts(id) {
		if v.Outcome != check.Failure {
			last = time.Time{}
			continue
		}
		if !last.IsZero() {
			gaps = append(gaps, v.At.Sub(last))
		}
		last = v.At
	}
	return gaps
}

func targets(n int) []registry.CheckTarget {
	list := make([]registry.CheckTarget, n)
	for i := range list {
		list[i] = target(i)
	}
	return list
}

// cycled reports whether the first cycle of checks has ended.
func cycled(v *Validator) bool {
	select {
	case <-v.FirstCycle():
		return true
	default:
		return false
	}
}

// after lets virtual time pass, and waits for all its effects.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
