// Package nodes lists the overwatch nodes and the agents that a node knows, from gossip, key exchange, pins and
// reports.
package nodes

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
)

// Self describes the node as a DNS server.
type Self struct {
	Addresses []netip.AddrPort // addresses of the DNS listeners
	Queries   uint64           // number of received queries
}

// Peers has the other overwatch nodes of the key exchange.
type Peers interface {
	Status() api.DNSSECSyncState
	// About returns the latest description that a peer has sent of itself, and the time of its arrival.
	About(peer string) (keysync.About, time.Time)
}

// Sources contains the data sources of nodes. Every field is required, except Peers.
type Sources struct {
	NodeID    string
	Version   string
	StartedAt time.Time // start of the process, with a monotonic reading
	APIPort   int
	Signs     bool // the node signs answers
	Config    func() (*config.Config, time.Time)
	Defined   func() (*definitions.Set, *config.Config)
	View      *registry.View
	Pins      interface{ Agents() []trust.Record }
	Peers     Peers // nil: keys are not exchanged
	Members   func() []gossip.Member
	HeardFrom func(identity.KeyID) netip.AddrPort
	Self      func() Self
	Ready     func() api.Readiness
	Now       func() time.Time
}
