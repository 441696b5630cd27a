package monitor

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// startSpread is over how long the first checks are spread: enough that the checks of backends with the same interval do
// not stay together, and short enough that a restarted agent knows its backends within a second.
const startSpread = time.Second

// prober is what makes one check; *check.Prober is the one.
type prober interface {
	Probe(ctx context.Context) check.Result
}

// watch is one backend under check. Its goroutine owns everything but failed and state, which anybody may load.
type watch struct {
	backend   Backend
	interval  time.Duration
	prober    prober
	tracker   *check.Tracker
	count     func(check.Result)
	confirmed bool // see confirm
	journal   journal
	failed    atomic.Uint64                // checks that failed, since the start
	state     atomic.Pointer[wire.Backend] // never edited

	stop func() // nil before begin
	done chan struct{}
}

func newWatch(b Backend, p prober, count func(check.Result), log zerolog.Logger) *watch {
	w := &watch{
		backend:  b,
		interval: b.Check.Interval,
		prober:   p,
		tracker:  b.Check.Tracker(),
		count:    count,
		journal:  journal{log: log},
	}
	said := onWireBackend(b)
	w.state.Store(&said)
	return w
}

// onWireBackend is a backend of which nothing is known yet.
func onWireBackend(b Backend) wire.Backend {
	return wire.Backend{Service: b.Service, Address: b.Address, Port: b.Port, Weight: uint16(b.Weight), Check: onWire(b.Check)}
}

// begin starts checking.
func (w *watch) begin(ctx context.Context, changed func(wire.Backend)) {
	ctx, w.stop = context.WithCancel(ctx)
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		w.run(ctx, changed)
	}()
}

// end stops checking and returns when the last check has ended.
func (w *watch) end() {
	if w.stop != nil {
		w.stop()
		<-w.done
	}
}

// inherit makes what is known of the backend from old, which has ended, the state to go on from.
func (w *watch) inherit(old *watch) {
	w.failed.Store(old.failed.Load())
	w.tracker, w.confirmed = w.backend.Check.TrackerAfter(old.backend.Check, *old.tracker), old.confirmed
	b, before := *w.state.Load(), old.state.Load()
	b.Claim, b.LatencyMicros, b.LastError = before.Claim, before.LatencyMicros, before.LastError
	b.ConsecutiveFailures, b.ConsecutiveSuccesses = uint32(w.tracker.Failures()), uint32(w.tracker.Successes())
	w.state.Store(&b)
}

// run checks once per interval, counted from start to start.
func (w *watch) run(ctx context.Context, changed func(wire.Backend)) {
	due := time.Now().Add(rand.N(min(w.interval, startSpread)))
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		r := w.prober.Probe(ctx)
		if ctx.Err() != nil {
			return
		}
		w.observe(r, changed)
		now := time.Now()
		if due = due.Add(w.interval); due.Before(now) {
			due = now // a late check delays the following ones, it does not bunch them
		}
		timer.Reset(due.Sub(now))
	}
}

// observe draws the conclusion of one check. What changes it is reported; so is, once, that the first success was no single one, which is
// what a node waits for that has known the backend as unhealthy.
func (w *watch) observe(r check.Result, changed func(wire.Backend)) {
	r = w.tracker.Weigh(r)
	w.count(r)
	if r.Outcome == check.Failure {
		w.failed.Add(1)
	}
	different := w.tracker.Observe(r.Outcome)
	b := *w.state.Load()
	b.Claim = claim(w.tracker.State())
	b.ConsecutiveFailures, b.ConsecutiveSuccesses = uint32(w.tracker.Failures()), uint32(w.tracker.Successes())
	b.LastError = r.Err
	if r.Outcome != check.Unknown {
		b.LatencyMicros = uint32(min(r.Latency.Microseconds(), math.MaxUint32))
	}
	w.state.Store(&b)
	if confirmed := w.confirm(); different || confirmed {
		changed(b)
	}
	w.journal.note(&b, r, different)
}

// confirm reports, once, that a backend which one success made healthy has had success_threshold of them.
func (w *watch) confirm() bool {
	before, enough := w.confirmed, w.tracker.Successes() >= w.backend.Check.SuccessThreshold
	w.confirmed = before || enough || w.tracker.State() == check.StateUnhealthy // of which the tracker takes no less
	return enough && !before
}

// claim is what the agent says of a backend in state s.
func claim(s check.State) wire.Claim {
	switch s {
	case check.StateHealthy:
		return wire.ClaimHealthy
	case check.StateUnhealthy:
		return wire.ClaimUnhealthy
	default:
		return wire.ClaimNone
	}
}

// onWire is the check as overwatch nodes need it to make it themselves. Spec.Address stays here: where the agent probes
// may be reachable for nobody else. What a tcp check sends stays here too: nodes send nothing that an agent chose, so
// they can only look whether the port is open.
func onWire(s check.Spec) wire.Check {
	d := s.Detail.Detail()
	if d.Send != "" {
		d.Expect = "" // it is the answer to what is not sent
	}
	return wire.Check{
		Type: string(s.Type), Path: s.Path, Host: s.Host,
		TimeoutMillis: uint32(s.Timeout.Milliseconds()), IntervalMillis: uint32(s.Interval.Milliseconds()),
		FailureThreshold: uint16(s.FailureThreshold), SuccessThreshold: uint16(s.SuccessThreshold),
		ServerName: s.ServerName, InsecureSkipVerify: s.InsecureSkipVerify,
		Method: d.Method, Headers: d.Headers, ExpectedStatus: d.ExpectedStatus, BodyContains: d.BodyContains,
		BodyMatches: d.BodyMatches, Expect: d.Expect, GRPCService: d.GRPCService, Authorities: d.Authorities, Counting: string(d.Counting),
	}
}
