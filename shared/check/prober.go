package check

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// Prober makes one check against one backend. It keeps no connection and no
// goroutine between two attempts, so dropping it is enough to end it.
type Prober struct {
	timeout time.Duration
	target  netip.AddrPort
	attempt func(ctx context.Context) error
}

// NewProber prepares the check that spec describes against backend. userAgent is
// sent with http and https requests. A Spec with problems is refused with all of
// them joined.
func NewProber(spec Spec, backend netip.AddrPort, userAgent string) (*Prober, error) {
	if problems := spec.Validate(); len(problems) > 0 {
		return nil, joinProblems(problems)
	}
	target := backend
	if spec.Address.IsValid() {
		target = netip.AddrPortFrom(spec.Address, backend.Port())
	}
	if !target.Addr().IsValid() || target.Port() == 0 {
		return nil, errors.New("check target " + target.String() + ": an address and a port from 1 to 65535 are needed")
	}
	p := &Prober{timeout: spec.Timeout, target: target}
	dialer := &net.Dialer{Timeout: spec.Timeout, KeepAlive: -1, FallbackDelay: -1}
	p.attempt = func(ctx context.Context) error {
		conn, err := dialer.DialContext(ctx, "tcp", target.String())
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return p, nil
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
	err := p.attempt(bounded)
	end := time.Now()
	r := Result{Latency: end.Sub(start), At: end}
	r.Outcome = Success
	if err != nil {
		r.Outcome, r.Err = Failure, err.Error()
	}
	return r
}
