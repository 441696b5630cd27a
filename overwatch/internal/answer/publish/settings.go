package publish

import (
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// Settings are the parts of the configuration that answers depend on.
type Settings struct {
	DNS     config.DNS
	Domains []config.Domain // of the files
	Defined []config.Domain // by the API
	// Regions are those that clients can be in, in the order that Places was compiled from.
	Regions []config.Region
	// Places gives the regions and positions of clients; nil: clients are in no region.
	Places *geo.Table
	// NodeID names this node; its first label names the nameserver of zones that configure none.
	NodeID string
	// Addresses are the addresses of that nameserver; see NodeAddresses.
	Addresses []netip.Addr
	// Denial is the way in which signed zones prove that names do not exist: config.DenialNSEC or config.DenialNSEC3.
	Denial string
	// RefuseMixed makes it a problem that a zone comes to have both domains that say dnssec_enabled: false and others.
	// Without it such a zone is signed, which takes no name away.
	RefuseMixed bool
}

// allDomains yields the domains of the files by their numbers, then those of the API.
func (s *Settings) allDomains(yield func(int, *config.Domain) bool) {
	number := 0
	for _, list := range [][]config.Domain{s.Domains, s.Defined} {
		for i := range list {
			if !yield(number, &list[i]) {
				return
			}
			number++
		}
	}
}

// Backends gives the backends of a service; *registry.View implements it. What Service returns must never change.
type Backends interface {
	Service(name string) []*registry.Backend
}

// Options configures a Publisher.
type Options struct {
	Settings Settings
	Backends Backends
	// Ready waits until Backends has all backends that are declared. It is called when zones are built, before names
	// are decided; nil: Backends has them.
	Ready     func() error
	Changes   *Changes                                  // of the backends; nil: the Publisher makes its own
	Signing   *dnssec.Zones                             // nil: answers are not signed
	Latencies map[registry.ID]policy.LatencyMeasurement // from before a restart
	// Serial is one after which zones begin (RFC 1982), so that a restart takes none back; 0: they begin with any.
	Serial     uint32
	Now        func() time.Time // nil means time.Now
	Measure    <-chan time.Time // when new measurements count; nil: each second
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}
