package check

import (
	"context"
	"sync/atomic"
	"time"
)

// phase is the progress of an attempt. The error of a timeout includes the phase.
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

// attempt is a probe in progress. phase is atomic, because net/http connects in another goroutine.
type attempt struct {
	ctx   context.Context
	phase atomic.Uint32
	beats atomic.Uint32
}

// An attempt counts timer ticks to measure the share of time in which this process ran. Each tick starts the timer for
// the next tick, so a stopped process or an overloaded machine misses ticks.
const (
	beatsPerTimeout = 8
	// fewBeats is the minimum number of ticks of a conclusive timeout. With fewer ticks, this process ran less than half
	// of the time, and the timeout does not count as evidence about the backend.
	fewBeats = beatsPerTimeout / 2
)

// beat starts to count the ticks of an attempt with the given timeout. stop ends the count.
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

// never is the duration of a timer that only Reset starts.
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
