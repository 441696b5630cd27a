package monitor

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// startSpread is the time within which all first checks start. It spreads the checks of backends with the same
// interval. A restarted agent knows the state of its backends within a second.
const startSpread = time.Second

// prober performs a check. *check.Prober implements it.
type prober interface {
	Probe(ctx context.Context) check.Result
}

// watch checks a backend. Its goroutine owns all fields except failed and state, which any goroutine may load, log and
// dial, which are constant, and stop and done, which Run and Replace own under Monitor.mu.
type watch struct {
	backend   Backend
	prober    prober
	tracker   *check.Tracker
	count     func(check.Result)
	confirmed bool // see confirm
	journal   journal
	failed    atomic.Uint64                // number of failed checks since the start
	state     atomic.Pointer[wire.Backend] // immutable

	hurried chan struct{} // has a value while a check must start immediately

	log  zerolog.Logger
	dial dialer // of the idle connection

	stop func() // nil before begin
	done chan struct{}
}

func newWatch(b Backend, p prober, count func(check.Result), log zerolog.Logger) *watch {
	w := &watch{
		backend: b,
		prober:  p,
		tracker: b.Check.Tracker(),
		count:   count,
		journal: newJournal(log),
		hurried: make(chan struct{}, 1),
		log:     log,
		dial:    dialTCP,
	}
	said := onWireBackend(b)
	w.state.Store(&said)
	return w
}

// onWireBackend returns the report about a backend before its first check.
func onWireBackend(b Backend) wire.Backend {
	return wire.Backend{Service: b.Service, Address: b.Address, Port: b.Port, Weight: uint16(b.Weight),
		Check: onWire(b.Check)}
}

// startChecks starts the checks.
func (w *watch) startChecks(ctx context.Context, changed func(wire.Backend)) {
	ctx, w.stop = context.WithCancel(ctx)
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		var connection sync.WaitGroup
		defer connection.Wait()
		if w.backend.WatchConnection {
			connection.Go(func() { w.watchConnection(ctx) })
		}
		w.run(ctx, changed)
	}()
}

// stopChecks stops the checks and waits for the end of the last check.
func (w *watch) stopChecks() {
	if w.stop != nil {
		w.stop()
		<-w.done
	}
}

// inherit copies the state of the backend from old, which has ended.
func (w *watch) inherit(old *watch) {
	w.failed.Store(old.failed.Load())
	w.tracker, w.confirmed = w.backend.Check.TrackerAfter(old.backend.Check, *old.tracker), old.confirmed
	b, before := *w.state.Load(), old.state.Load()
	b.Claim, b.LatencyMicros, b.LastError = before.Claim, before.LatencyMicros, before.LastError
	b.CheckedAtMillis = before.CheckedAtMillis
	b.ConsecutiveFailures, b.ConsecutiveSuccesses = uint32(w.tracker.Failures()), uint32(w.tracker.Successes())
	w.state.Store(&b)
}

// hurry starts a check immediately. If the backend refuses the connection, checks follow every refusedInterval until
// the backend is unhealthy or accepts a connection. Any goroutine may call hurry.
func (w *watch) hurry() {
	select {
	case w.hurried <- struct{}{}:
	default: // a check is requested already
	}
}

// refusedInterval is the interval of checks after hurry while the backend refuses connections.
const refusedInterval = check.MinInterval

// run performs a check per interval, measured from start to start. Results that contradict the state of the backend
// shorten the interval to the fast interval, see also hurry.
func (w *watch) run(ctx context.Context, changed func(wire.Backend)) {
	due := time.Now().Add(rand.N(min(w.backend.Check.Interval, startSpread)))
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	hurried := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.hurried:
			hurried, due = true, time.Now()
		case <-timer.C:
		}
		r := w.prober.Probe(ctx)
		if ctx.Err() != nil {
			return
		}
		w.observe(r, changed)
		gap := w.backend.Check.IntervalAfter(w.tracker)
		if hurried = hurried && r.Refused && w.tracker.State() != check.StateUnhealthy; hurried {
			gap = min(gap, refusedInterval)
		}
		now := time.Now()
		if due = due.Add(gap); due.Before(now) {
			due = now // a late check delays the following checks, to avoid bursts
		}
		timer.Reset(due.Sub(now))
	}
}

// observe processes the result of a check and reports a changed state. If the first success made a backend healthy,
// observe reports once more when the backend reaches its success threshold: overwatch nodes that stored the backend as
// unhealthy wait for this report.
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
	b.LastError, b.CheckedAtMillis = r.Err, uint64(time.Now().UnixMilli())
	if r.Outcome != check.Unknown {
		b.LatencyMicros = uint32(min(r.Latency.Microseconds(), math.MaxUint32))
	}
	w.state.Store(&b)
	if confirmed := w.confirm(); different || confirmed {
		changed(b)
	}
	w.journal.logResult(&b, r, different)
}

// confirm returns true once, when a backend that a single success made healthy reaches success_threshold.
func (w *watch) confirm() bool {
	before, enough := w.confirmed, w.tracker.Successes() >= w.backend.Check.SuccessThreshold
	// an unhealthy backend always requires success_threshold successes
	w.confirmed = before || enough || w.tracker.State() == check.StateUnhealthy
	return enough && !before
}

// claim converts a state to the agent's report about a backend.
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

// onWire converts a check to the form that overwatch nodes use for their own checks. It omits Spec.Address, because
// only this host may reach it, and the payload of a tcp check, because nodes send no data of an agent.
func onWire(s check.Spec) wire.Check {
	d := s.Detail.Detail()
	if d.Send != "" {
		d.Send, d.Expect = "", "" // a backend sends this answer only after Send
	}
	return wire.Check{
		Type: string(s.Type), Path: s.Path, Host: s.Host,
		TimeoutMillis: uint32(s.Timeout.Milliseconds()), IntervalMillis: uint32(s.Interval.Milliseconds()),
		FailureThreshold: uint16(s.FailureThreshold), SuccessThreshold: uint16(s.SuccessThreshold),
		ServerName: s.ServerName, InsecureSkipVerify: s.InsecureSkipVerify,
		Detail: d,
	}
}
