package check

import (
	"context"
	"sync/atomic"
	"time"
)

// phase is the progress of an attempt. It tells an operator what a timed-out attempt was waiting
// for.
type phase uint32

const (
	connecting phase = iota
	handshaking
	responding
	reading
)

// String returns the phase as the end of a sentence about a timeout.
func (p phase) String() string {
	switch p {
	case handshaking:
		return "in the TLS handshake"
	case responding:
		return "waiting for the answer"
	case reading:
		return "reading the body"
	default:
		return "connecting"
	}
}

// attempt is a probe in progress. net/http connects in a goroutine of its own, so the phase is
// atomic.
type attempt struct {
	ctx   context.Context
	phase atomic.Uint32
	beats atomic.Uint32
}

// An attempt that lasts measures how much of its time this process really ran: it beats, each time a little after the
// one before, and a process that is stopped, or a machine that has no time for it, misses beats.
const (
	beatsPerTimeout = 8
	// fewBeats is the number of beats below which a timeout says nothing about the backend: this
	// process ran less than half of the time.
	fewBeats = beatsPerTimeout / 2
)

// beat starts to measure how much this process runs during an attempt with the given timeout. The
// returned func ends the measurement.
func (a *attempt) beat(timeout time.Duration) (stop func()) {
	every := timeout / beatsPerTimeout
	var timer *time.Timer
	timer = time.AfterFunc(never, func() {
		if a.beats.Add(1) < beatsPerTimeout {
			timer.Reset(every)
		}
	})
	timer.Reset(every)
	return func() { timer.Stop() }
}

// never is the duration of a timer that is only made to be reset.
const never = 1<<63 - 1

func (a *attempt) enter(p phase)  { a.phase.Store(uint32(p)) }
func (a *attempt) reached() phase { return phase(a.phase.Load()) }

// attemptKey is the context key of the attempt. net/http hands a dialer a context with the
// request's values but without its deadline.
type attemptKey struct{}

func (a *attempt) context() context.Context {
	return context.WithValue(a.ctx, attemptKey{}, a)
}

func attemptOf(ctx context.Context) *attempt {
	return ctx.Value(attemptKey{}).(*attempt)
}
