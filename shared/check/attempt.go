package check

import (
	"context"
	"sync/atomic"
)

// phase is how far an attempt got; it tells an operator what a timeout waited for.
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

// attempt is one probe under way. net/http connects in a goroutine of its own, so
// the phase is atomic.
type attempt struct {
	ctx   context.Context
	phase atomic.Uint32
}

func (a *attempt) enter(p phase)  { a.phase.Store(uint32(p)) }
func (a *attempt) reached() phase { return phase(a.phase.Load()) }

// attemptKey finds the attempt in the context that net/http hands to a dialer:
// that context keeps the request's values but not its deadline.
type attemptKey struct{}

func (a *attempt) context() context.Context {
	return context.WithValue(a.ctx, attemptKey{}, a)
}

func attemptOf(ctx context.Context) *attempt {
	return ctx.Value(attemptKey{}).(*attempt)
}
