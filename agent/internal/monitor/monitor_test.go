package monitor // inside: it uses journalBurst, prober and startSpread

import (
	"bytes"
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// script is a prober that returns given results, in virtual time.
type script struct {
	mu     sync.Mutex
	find   func(ctx context.Context, n int) check.Result // n counts from 0
	starts []time.Time
}

func (s *script) Probe(ctx context.Context) check.Result {
	s.mu.Lock()
	n := len(s.starts)
	s.starts = append(s.starts, time.Now())
	s.mu.Unlock()
	return s.find(ctx, n)
}

// outcomes returns the given results in order, and then repeats the last result.
func outcomes(list ...check.Outcome) *script {
	return &script{find: func(_ context.Context, n int) check.Result {
		r := check.Result{Outcome: list[min(n, len(list)-1)], Latency: 3 * time.Millisecond, At: time.Now()}
		if r.Outcome != check.Success {
			r.Err = "status 500"
		}
		return r
	}}
}

func backend(port uint16) Backend {
	return Backend{
		Service: "App.example.org.", Address: netip.MustParseAddr("127.0.0.1"), Port: port, Weight: 100,
		Check: check.Spec{Type: check.HTTP, Path: "/health", Host: "app", Interval: 5 * time.Second,
			FastInterval: 5 * time.Second, Timeout: 2 * time.Second, FailureThreshold: 3, SuccessThreshold: 2},
	}
}

// rig is a Monitor over scripts.
type rig struct {
	*Monitor
	log      bytes.Buffer
	registry *prometheus.Registry
	mu       sync.Mutex
	changes  []wire.Backend
	at       []time.Time
}

func newRig(t *testing.T, scripts ...*script) *rig {
	t.Helper()
	r := &rig{registry: prometheus.NewRegistry()}
	var backends []Backend
	for i := range scripts {
		backends = append(backends, backend(uint16(8000+i)))
	}
	m, err := New(Options{Backends: backends, Registerer: r.registry, Logger: zerolog.New(zerolog.SyncWriter(&r.log))})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range scripts {
		m.list()[i].prober = s
	}
	r.Monitor = m
	return r
}

func (r *rig) changed(b wire.Backend) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, b)
	r.at = append(r.at, time.Now())
}

// runFor runs the monitor for d of virtual time.
func (r *rig) runFor(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := r.Run(ctx, r.changed); err != nil {
		t.Error(err)
	}
}

const s, f, u = check.Success, check.Failure, check.Unknown

func TestRun_TellsEveryChangeOfStateAtOnceAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := outcomes(u, s, f, f, u, f, f, s, s, s)
		r := newRig(t, p)
		r.runFor(t, time.Minute)
		want := []struct {
			check int // whose result makes the change
			wire.Backend
		}{
			{1, wire.Backend{Claim: wire.ClaimHealthy, ConsecutiveSuccesses: 1}},
			{5, wire.Backend{Claim: wire.ClaimUnhealthy, ConsecutiveFailures: 3, LastError: "status 500"}},
			{8, wire.Backend{Claim: wire.ClaimHealthy, ConsecutiveSuccesses: 2}},
		}
		if len(r.changes) != len(want) {
			t.Fatalf("%d changes, want %d: %+v", len(r.changes), len(want), r.changes)
		}
		for i, w := range want {
			got := r.changes[i]
			if got.Claim != w.Claim || got.ConsecutiveFailures != w.ConsecutiveFailures ||
				got.ConsecutiveSuccesses != w.ConsecutiveSuccesses || got.LastError != w.LastError || got.LatencyMicros != 3000 {
				t.Errorf("change %d is %+v, want %+v", i, got, w.Backend)
			}
			if got.CheckedAtMillis != uint64(r.at[i].UnixMilli()) {
				t.Errorf("change %d of a check that ended %s says %d", i, r.at[i], got.CheckedAtMillis)
			}
			if !r.at[i].Equal(p.starts[w.check]) {
				t.Errorf("change %d came at %s, its check was made at %s", i, r.at[i], p.starts[w.check])
			}
		}
	})
}

// The agent reports the first success after a start, and reports again after success_threshold successes: a node that
// stored the backend as unhealthy waits for the second report.
func TestRun_TellsOnceThatTheFirstSuccessWasNoSingleOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := outcomes(u, s, f, s, s, s, f, s, s)
		r := newRig(t, p)
		r.runFor(t, time.Minute)
		if len(r.changes) != 2 || r.changes[0].ConsecutiveSuccesses != 1 || r.changes[1].ConsecutiveSuccesses != 2 {
			t.Fatalf("told: %+v", r.changes)
		}
		for i, made := range []int{1, 4} {
			if c := r.changes[i]; c.Claim != wire.ClaimHealthy || !r.at[i].Equal(p.starts[made]) {
				t.Errorf("told at %s: %+v; the check was made at %s", r.at[i], c, p.starts[made])
			}
		}
	})
}

// After a start, a single success decides, or failure_threshold failures. Before that, the agent reports no state.
func TestRun_FirstFailuresSayNothingBelowTheThreshold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, outcomes(f, f, s), outcomes(f, f, f))
		r.runFor(t, 7*time.Second)
		for _, b := range r.Snapshot() {
			if b.Claim != wire.ClaimNone || b.ConsecutiveFailures != 2 || b.LastError == "" {
				t.Errorf("after two failures of three: %+v", b)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, outcomes(f, f, s), outcomes(f, f, f))
		r.runFor(t, 12*time.Second)
		if got := r.Snapshot(); got[0].Claim != wire.ClaimHealthy || got[1].Claim != wire.ClaimUnhealthy {
			t.Errorf("%+v", got)
		}
	})
}

func TestRun_ChecksOncePerIntervalFromStartToStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &script{find: func(context.Context, int) check.Result {
			time.Sleep(2 * time.Second) // virtual
			return check.Result{Outcome: s}
		}}
		r := newRig(t, p)
		begin := time.Now()
		r.runFor(t, time.Minute)
		if first := p.starts[0].Sub(begin); first >= startSpread {
			t.Errorf("the first check began after %s", first)
		}
		for i := 1; i < len(p.starts); i++ {
			if gap := p.starts[i].Sub(p.starts[i-1]); gap != 5*time.Second {
				t.Errorf("check %d began %s after the one before", i, gap)
			}
		}
		if r.Checks() < 11 {
			t.Errorf("%d checks in a minute", r.Checks())
		}
	})
}

func TestRun_OneSlowBackendDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &script{find: func(ctx context.Context, _ int) check.Result {
			<-ctx.Done()
			return check.Result{Outcome: f}
		}}
		r := newRig(t, stuck, outcomes(s), outcomes(f))
		r.runFor(t, time.Minute)
		got := r.Snapshot()
		if got[0].Claim != wire.ClaimNone || got[1].Claim != wire.ClaimHealthy || got[2].Claim != wire.ClaimUnhealthy {
			t.Errorf("%+v", got)
		}
	})
}

func TestRun_OwnTroubleKeepsTheClaimAndShowsTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &script{find: func(_ context.Context, n int) check.Result {
			if n == 0 {
				return check.Result{Outcome: s, Latency: 3 * time.Millisecond}
			}
			// The elapsed time is not the latency of the backend.
			return check.Result{Outcome: u, Err: "too many open files", Latency: time.Microsecond}
		}})
		r.runFor(t, time.Hour)
		got := r.Snapshot()[0]
		if got.Claim != wire.ClaimHealthy || got.LastError == "" || got.LatencyMicros != 3000 || len(r.changes) != 1 {
			t.Errorf("%+v after %d changes", got, len(r.changes))
		}
		if n := strings.Count(r.log.String(), "cannot run"); n != 1 {
			t.Errorf("an hour of own trouble gave %d lines:\n%s", n, r.log.String())
		}
	})
}

func TestRun_ChecksThatWereHeldUpSayNothingUntilThereAreTooMany(t *testing.T) {
	held := &script{find: func(_ context.Context, n int) check.Result {
		if n == 0 {
			return check.Result{Outcome: s}
		}
		return check.Result{HeldUp: true, Err: "held up"}
	}}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, held)
		r.runFor(t, (check.MaxHeldUp+1)*5*time.Second+time.Second)
		failures := r.Snapshot()[0].ConsecutiveFailures
		families, err := r.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counted := 0.0
		for _, family := range families {
			if family.GetName() == "gslb_agent_checks_held_up_total" {
				counted = family.GetMetric()[0].GetCounter().GetValue()
			}
		}
		if failures == 0 || counted != check.MaxHeldUp+float64(failures) {
			t.Errorf("%d failures, %v counted", failures, counted)
		}
	})
}

func TestSnapshot_HasEveryBackendBeforeTheFirstCheck(t *testing.T) {
	r := newRig(t, outcomes(s), outcomes(s))
	got := r.Snapshot()
	want := wire.Backend{
		Service: "app.example.org", Address: netip.MustParseAddr("127.0.0.1"), Port: 8001, Weight: 100,
		Check: wire.Check{Type: "http", Path: "/health", Host: "app", TimeoutMillis: 2000, IntervalMillis: 5000,
			FailureThreshold: 3, SuccessThreshold: 2},
	}
	if len(got) != 2 || got[1] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestLog_FailureAndReturnAreToldWhenTheyHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, outcomes(s, f, f, f, s, s, s))
		w := r.list()[0]
		w.backend.Check.Interval = 100 * time.Millisecond
		r.runFor(t, time.Second)
		lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[1], "backend is unhealthy") ||
			!strings.Contains(lines[1], "status 500") {
			t.Errorf("%d lines, want 3:\n%s", len(lines), r.log.String())
		}
	})
}

func TestLog_FlappingBackendIsToldSometimesAndInTheEndRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &script{find: func(_ context.Context, n int) check.Result {
			if n < 600 && n%2 == 0 {
				return check.Result{Outcome: f, Err: "status 500"}
			}
			return check.Result{Outcome: s}
		}}
		r := newRig(t, p)
		w := r.list()[0]
		w.backend.Check.Interval, w.tracker = 100*time.Millisecond, check.NewTracker(1, 1)
		r.runFor(t, 2*time.Minute)
		lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
		if len(lines) > journalBurst+7 { // a minute of flapping, then quiet
			t.Errorf("%d lines about one backend:\n%s", len(lines), r.log.String())
		}
		if last := lines[len(lines)-1]; !strings.Contains(last, "backend is healthy") {
			t.Errorf("the last line is %s", last)
		}
		if len(r.changes) != 600 {
			t.Errorf("%d changes were told, want all 600", len(r.changes))
		}
	})
}

func TestMetrics_ShowWhatTheChecksFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, outcomes(s), outcomes(f), outcomes(u))
		r.runFor(t, 3*time.Second)
		families, err := r.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, family := range families {
			text.WriteString(family.String() + "\n")
		}
		for _, want := range []string{"gslb_agent_checks_total", "gslb_agent_backend_check_seconds"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %s", want)
			}
		}
		if n := strings.Count(text.String(), `value:"8002"`); n != 0 {
			t.Error("a backend without a conclusive check is shown")
		}
		if n := r.Checks(); n != 3 {
			t.Errorf("%d checks, want 3", n)
		}
	})
}

// verboseBackends returns n backends whose check settings have 1000 octets of headers.
func verboseBackends(n int) []Backend {
	list := make([]Backend, n)
	for i := range list {
		list[i] = backend(uint16(8000 + i))
		list[i].Check.Detail = check.Detail{Headers: "X-Long: " + strings.Repeat("x", 1000)}.Details()
	}
	return list
}

func TestNew_NamesWhatIsWrong(t *testing.T) {
	bad := backend(80)
	bad.Check.Path = ""
	for name, c := range map[string]struct {
		backends []Backend
		want     string
	}{
		"too many":               {make([]Backend, wire.MaxBackends+1), "64 can be watched"},
		"twice":                  {[]Backend{backend(80), backend(80)}, "app.example.org:127.0.0.1:80"},
		"too much for a message": {verboseBackends(64), "fits one message"},
		"check not valid":        {[]Backend{bad}, "path"},
	} {
		_, err := New(Options{Backends: c.backends, Registerer: prometheus.NewRegistry()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

// A burst of log lines is limited to journalBurst lines, even after a long pause.
func TestLog_FlappingAfterALongQuietIsToldSometimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &script{find: func(_ context.Context, n int) check.Result {
			if n > 3600 && n%2 == 0 {
				return check.Result{Outcome: f, Err: "status 500"}
			}
			return check.Result{Outcome: s}
		}}
		r := newRig(t, p)
		w := r.list()[0]
		w.backend.Check.Interval, w.tracker = time.Second, check.NewTracker(1, 1)
		r.runFor(t, 3600*time.Second+time.Minute)
		if lines := strings.Count(r.log.String(), "\n"); lines > journalBurst+7 {
			t.Errorf("%d lines about one backend in a minute:\n%s", lines, r.log.String())
		}
	})
}

// After a result that contradicts the state, checks follow at the fast interval until the state changes or is
// confirmed. This applies to healthy and unhealthy backends.
func TestRun_AContradictedStateIsCheckedAtTheFastInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := outcomes(s, f, f, f, f, s, s, s)
		r := newRig(t, p)
		r.list()[0].backend.Check.FastInterval = 0 // the default: 1 s
		r.runFor(t, time.Minute)
		want := []time.Duration{5 * time.Second, time.Second, time.Second, 5 * time.Second, 5 * time.Second, time.Second,
			5 * time.Second}
		for i, gap := range want {
			if got := p.starts[i+1].Sub(p.starts[i]); got != gap {
				t.Errorf("check %d came after %s, want %s", i+1, got, gap)
			}
		}
	})
}

// A late check delays the following checks, so that they are not executed in a burst.
func TestRun_ALateCheckDoesNotBunchTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &script{find: func(_ context.Context, n int) check.Result {
			if n == 1 {
				time.Sleep(22 * time.Second) // virtual: four intervals and more
			}
			return check.Result{Outcome: s, Latency: time.Millisecond}
		}}
		r := newRig(t, p)
		r.runFor(t, time.Minute)
		for i := 3; i < len(p.starts); i++ {
			if gap := p.starts[i].Sub(p.starts[i-1]); gap != r.list()[0].backend.Check.Interval {
				t.Errorf("check %d came %s after the one before", i, gap)
			}
		}
		if len(p.starts) < 6 {
			t.Errorf("%d checks", len(p.starts))
		}
	})
}
