package monitor

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// Backend is a backend to check.
type Backend struct {
	Service string
	Address netip.Addr
	Port    uint16
	Weight  int
	Check   check.Spec
	// WatchSocket requests a check when the listening socket of a backend on this machine disappears.
	WatchSocket bool
	// WatchConnection requests an idle connection to the backend, and a check when the server ends it.
	WatchConnection bool
}

// String returns the id of the backend in the format of the API.
func (b Backend) String() string {
	return b.Service + ":" + b.Address.String() + ":" + strconv.Itoa(int(b.Port))
}

// Options are the inputs of New.
type Options struct {
	// Backends are the backends to check: at most wire.MaxBackends, without duplicates.
	Backends []Backend
	// UserAgent is sent with all checks but tcp.
	UserAgent  string
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// canonical returns backends in their canonical form, or an error for an invalid backend.
func canonical(list []Backend) ([]Backend, error) {
	if n := len(list); n > wire.MaxBackends {
		return nil, fmt.Errorf("agent.backends has %d entries: %d can be watched by one agent", n, wire.MaxBackends)
	}
	backends := make([]Backend, len(list))
	seen := make(map[string]bool, len(list))
	for i, b := range list {
		b.Service, b.Address = wire.CanonicalService(b.Service), b.Address.Unmap()
		if seen[b.String()] {
			return nil, fmt.Errorf("agent.backends: %s is listed twice", b)
		}
		seen[b.String()] = true
		backends[i] = b
	}
	return backends, fits(backends)
}

// fits returns an error if the reports about the backends, each with the longest error text, do not fit into a message.
func fits(backends []Backend) error {
	m := wire.Heartbeat{Region: strings.Repeat("x", wire.MaxRegion), Version: strings.Repeat("x", wire.MaxVersion)}
	for _, b := range backends {
		said := onWireBackend(b)
		said.LastError = strings.Repeat("x", wire.MaxText)
		m.Backends = append(m.Backends, said)
	}
	if _, err := m.MarshalBinary(); errors.Is(err, wire.ErrTooLarge) {
		return errors.New("agent.backends: their checks say more than fits one message: shorten headers, paths and texts, " +
			"or let another agent, with its own agent_id and data_dir, watch some of them")
	}
	return nil // other errors of encoding do not concern the size
}

// Check returns an error if the backends cannot be checked, except for errors in single checks.
func Check(backends []Backend) error {
	_, err := canonical(backends)
	return err
}
