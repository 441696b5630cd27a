package check

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// Prober makes the checks of a backend. It has no connection and no goroutine between attempts, so it has no Close.
type Prober struct {
	timeout time.Duration
	target  netip.AddrPort
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	make    func(*attempt) error // implementation of the check type
}

// NewProber prepares the check of spec for backend. All check types except tcp send userAgent. It returns all problems
// of an invalid Spec, joined. It compiles the pattern, and each check matches the received body.
func NewProber(spec Spec, backend netip.AddrPort, userAgent string) (*Prober, error) {
	return (*Patterns)(nil).NewProber(spec, backend, userAgent)
}

// NewProber is like the function NewProber, but p compiles the pattern once for all checks and bounds the number of
// concurrent matches.
func (p *Patterns) NewProber(spec Spec, backend netip.AddrPort, userAgent string) (*Prober, error) {
	if problems := spec.Validate(); len(problems) > 0 {
		return nil, joinProblems(problems)
	}
	at := backend
	if spec.Address.IsValid() {
		at = netip.AddrPortFrom(spec.Address, backend.Port())
	}
	if !at.Addr().IsValid() || at.Port() == 0 {
		return nil, errors.New("check target " + at.String() + ": an address and a port from 1 to 65535 are needed")
	}
	made := &Prober{
		timeout: spec.Timeout,
		target:  at,
		// Keep-alive probes are for connections that last.
		dial: (&net.Dialer{KeepAlive: -1}).DialContext,
	}
	made.make = spec.Type.kind().prepare(target{spec, at, userAgent, p, made.connect})
	return made, nil
}

func joinProblems(problems []Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Probe makes an attempt and returns at its end, at the latest after the timeout of the Spec. If ctx ends first, the
// outcome is Unknown.
func (p *Prober) Probe(ctx context.Context) Result {
	start := time.Now()
	bounded, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	a := &attempt{ctx: bounded}
	stop := a.beat(p.timeout)
	err := p.make(a)
	stop()
	end := time.Now()
	r := Result{Latency: end.Sub(start), At: end}
	switch {
	case err == nil:
		r.Outcome = Success
	case ctx.Err() != nil:
		r.Err = "check stopped before it ended"
	default:
		r = a.judge(r, err, p.timeout)
	}
	return r
}

// connect opens a connection to the target; the caller closes it.
func (p *Prober) connect(a *attempt) (net.Conn, error) {
	a.enter(connecting)
	conn, err := p.dial(a.ctx, "tcp", p.target.String())
	if err != nil {
		return nil, withRoute(err, p.target)
	}
	return conn, nil
}
