package monitor

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"gslb.internal/agent/internal/sockets"
)

// socketInterval is the interval between two lists of the listening sockets.
const socketInterval = 100 * time.Millisecond

// lister lists the listening sockets of this machine. *sockets.Lister implements it.
type lister interface {
	List() (sockets.Set, error)
	Close() error
}

// openSockets returns the lister of the system.
func openSockets() (lister, error) { return sockets.Open() }

// watchSockets lists the listening sockets until ctx ends, and requests checks of backends that have lost their socket
// since the previous list. It returns immediately if the system does not provide the list. Then only checks detect
// failures.
func (m *Monitor) watchSockets(ctx context.Context) {
	l, err := m.openSockets()
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			m.options.Logger.Warn().Err(err).Msg("the agent cannot watch listening sockets (health_check.watch): " +
				"checks alone detect a failure")
		}
		return
	}
	defer func() { _ = l.Close() }() // nothing can be lost
	tick := time.NewTicker(socketInterval)
	defer tick.Stop()
	p := presence{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := p.update(l, m.list(), isLocal); err != nil {
				m.options.Logger.Warn().Err(err).Msg("the agent no longer watches listening sockets (health_check.watch): " +
					"checks alone detect a failure")
				return
			}
		}
	}
}

// presence contains the watches with a listening socket in the last list.
type presence map[*watch]bool

// update lists the sockets if a watch needs the list, and calls hurry for local backends that lost their socket.
func (p *presence) update(l lister, watches []*watch, local func(netip.Addr) bool) error {
	next := presence{}
	var set sockets.Set
	for _, w := range watches {
		if !w.backend.WatchSocket {
			continue
		}
		if set == nil {
			var err error
			if set, err = l.List(); err != nil {
				return err
			}
		}
		at := w.backend.socket()
		if set.Has(at) {
			next[w] = true
		} else if (*p)[w] && local(at.Addr()) {
			w.hurry()
		}
	}
	*p = next
	return nil
}

// socket returns the address and port of the backend's health check.
func (b *Backend) socket() netip.AddrPort {
	if b.Check.Address.IsValid() {
		return netip.AddrPortFrom(b.Check.Address, b.Port)
	}
	return netip.AddrPortFrom(b.Address, b.Port)
}

// isLocal reports whether an address belongs to this machine. A remote backend may have the port of a local socket.
func isLocal(addr netip.Addr) bool {
	if addr.IsLoopback() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // a check of a remote backend is harmless
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.Equal(addr.AsSlice()) {
			return true
		}
	}
	return false
}
