package overwatch

import (
	"context"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/doctor"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// hostPace is how often the addresses of this machine's interfaces are read again: they change with leases and
// failovers.
const hostPace = time.Minute

// ownAddresses are the addresses of this machine's interfaces, as they were when they were last read.
type ownAddresses struct{ list atomic.Pointer[[]netip.Addr] }

// read looks anew. On an error the addresses before stay.
func (o *ownAddresses) read() error {
	found, err := publish.InterfaceAddresses()
	if err == nil {
		o.list.Store(&found)
	}
	return err
}

// all returns the addresses; the slice is not to be changed.
func (o *ownAddresses) all() []netip.Addr {
	if list := o.list.Load(); list != nil {
		return *list
	}
	return nil
}

// follow reads the addresses now and then until ctx ends.
func (o *ownAddresses) follow(ctx context.Context) error {
	ticker := time.NewTicker(hostPace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			_ = o.read() // what was read before is the best there is
		}
	}
}

// openHost reads what this machine is, by which addresses from agents are judged. Listeners are those of the start: a
// reload changes none.
func (n *node) openHost(cfg *config.Config) (trust.Host, error) {
	if err := n.own.read(); err != nil {
		return trust.Host{}, err
	}
	n.core.run("addresses", n.own.follow)
	return trust.Host{Ports: ownPorts(cfg), Addresses: n.own.all, Loopback: control.GossipsOnLoopback(cfg)}, nil
}

// ownPorts are the ports of the listeners that a configuration gives, without those that the system chooses.
func ownPorts(cfg *config.Config) (ports []uint16) {
	for _, address := range doctor.ListenAddresses(cfg) {
		if at, remedy := settings.ParseListener(address); remedy == "" && at.Port != 0 && !slices.Contains(ports, at.Port) {
			ports = append(ports, at.Port)
		}
	}
	return ports
}
