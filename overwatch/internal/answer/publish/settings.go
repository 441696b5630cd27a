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
	Domains []config.Domain // domains of the files
	Defined []config.Domain // domains of the API
	Records *config.Records // records of the API
	// Regions contains the regions of clients, in the order from which Places was compiled.
	Regions []config.Region
	// Places maps clients to regions and positions; nil means that clients have no region.
	Places *geo.Table
	// NodeID is the id of this node. Its first label is the first label of the nameserver of zones without configured
	// nameservers.
	NodeID string
	// Addresses are the addresses of the node's nameserver; see NodeAddresses.
	Addresses []netip.Addr
	// Denial is the method of denial of signed zones: config.DenialNSEC or config.DenialNSEC3.
	Denial string
	// RefuseMixed reports a problem for a zone with signed and unsigned domains (dnssec_enabled: false). Otherwise the
	// zone is signed, which is safe for all its names.
	RefuseMixed bool
	// RefuseOmitted reports a problem for each record of the API that cannot be served and that neither Omitted nor the
	// previous settings omit. Otherwise such a record is omitted.
	RefuseOmitted bool
	Omitted       *Omitted
}

// allDomains yields the domains of the files by their numbers, then the domains of the API.
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

// Backends returns the backends of a service; *registry.View implements it. Results of Service must be immutable.
type Backends interface {
	Service(name string) []*registry.Backend
}

// Options configures a Publisher.
type Options struct {
	Settings Settings
	Backends Backends
	// Ready waits until Backends contains all declared backends. It is called before the decisions of names; nil means no
	// wait.
	Ready     func() error
	Changes   *Changes                                  // changes of the backends; nil: the Publisher creates them
	Failbacks Failbacks                                 // nil: no region awaits failback
	Signing   *dnssec.Zones                             // nil: answers are not signed
	Latencies map[registry.ID]policy.LatencyMeasurement // measurements from before a restart
	// Serial is the serial above which zones start (RFC 1982), so that serials do not decrease after a restart; 0 means
	// any.
	Serial     uint32
	Now        func() time.Time // nil means time.Now
	Measure    <-chan time.Time // ticks for the use of new measurements; nil: each second
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}
