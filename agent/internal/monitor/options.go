package monitor

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// Backend is one thing to watch.
type Backend struct {
	Service string
	Address netip.Addr
	Port    uint16
	Weight  int
	Check   check.Spec
}

// String returns the id of the backend, as the API spells it.
func (b Backend) String() string {
	return b.Service + ":" + b.Address.String() + ":" + strconv.Itoa(int(b.Port))
}

// Options is what a Monitor needs.
type Options struct {
	// Backends is what is watched: 1 to wire.MaxBackends, each once.
	Backends []Backend
	// UserAgent is sent with http checks.
	UserAgent  string
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// complete checks o and brings its backends into their one form.
func (o *Options) complete() error {
	if o.Registerer == nil {
		return errors.New("monitor: Registerer must be set")
	}
	if n := len(o.Backends); n == 0 || n > wire.MaxBackends {
		return fmt.Errorf("agent.backends has %d entries: 1 to %d can be watched by one agent", n, wire.MaxBackends)
	}
	backends := make([]Backend, len(o.Backends))
	seen := make(map[string]bool, len(o.Backends))
	for i, b := range o.Backends {
		b.Service, b.Address = wire.CanonicalService(b.Service), b.Address.Unmap()
		if seen[b.String()] {
			return fmt.Errorf("agent.backends: %s stands there twice", b)
		}
		seen[b.String()] = true
		backends[i] = b
	}
	o.Backends = backends
	return nil
}
