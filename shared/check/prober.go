package check

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// Prober makes the checks of a backend. It keeps no connection and no goroutine between attempts,
// so it needs no Close.
type Prober struct {
	timeout time.Duration
	target  netip.AddrPort
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	make    func(*attempt) error // as the check's type does
}

// NewProber prepares the check of spec for backend. userAgent is sent with all checks but tcp.
// It returns all problems of a wrong Spec, joined. The pattern is compiled here and matched for
// each received body.
func NewProber(spec Spec, backend netip.AddrPort, userAgent string) (*Prober, error) {
	return (*Patterns)(nil).NewProber(spec, backend, userAgent)
}

// NewProber does the same as the package's NewProber, with a pattern that p compiles once for all
// checks and matches in turn.
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

// Probe makes one attempt and returns when it has ended, at the latest after the
// Spec's timeout. When ctx ends first the outcome is Unknown.
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
