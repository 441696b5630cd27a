package gossip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Defaults of the configuration's overwatch.gossip.
const (
	DefaultBind           = "0.0.0.0:7946"
	DefaultProbeInterval  = time.Second
	DefaultProbeTimeout   = 500 * time.Millisecond
	DefaultGossipInterval = 200 * time.Millisecond
)

// Truster authenticates messages of agents. Calls for different agents may be concurrent.
type Truster interface {
	Open(message []byte, from netip.Addr) (trust.Message, *trust.Refusal)
}

// Registry applies messages of agents. Calls for different agents may be concurrent.
type Registry interface {
	ApplyHeartbeat(ctx context.Context, from trust.Agent, m *wire.Heartbeat) (registry.Outcome, error)
	ApplyTransition(ctx context.Context, from trust.Agent, m *wire.Transition) (registry.Outcome, error)
	ApplyWarnings(ctx context.Context, from trust.Agent, m *wire.Signal) (registry.Outcome, error)
	ApplyDrain(ctx context.Context, from trust.Agent, m *wire.Drain) (registry.Outcome, error)
	ApplyGoodbye(ctx context.Context, from trust.Agent) error
}

// Options configures a Node. Every field is required unless its comment says that it is optional.
type Options struct {
	// Bind is the address and port for UDP and TCP; "" means DefaultBind, and port 0 any free port.
	Bind string
	// Keys are the gossip keys, 32 octets each. The first key encrypts, all keys decrypt.
	Keys [][]byte
	// NodeID identifies this node to agents and other nodes. Region and Version are optional and shown to them.
	NodeID, Region, Version string
	// Identity seals the messages of this node. Agents pin its certificate.
	Identity *identity.Identity
	// Boot is the nonce of this process, the same as in Trust.
	Boot identity.Nonce
	// Share is the key share of the Exchange of Trust; zero without sessions.
	Share    identity.Share
	Trust    Truster
	Registry Registry
	// ProbeInterval, ProbeTimeout and GossipInterval are for other overwatch nodes; zero means the default.
	ProbeInterval, ProbeTimeout, GossipInterval time.Duration
	// Seeds are other overwatch nodes (host:port) to add as members.
	Seeds []string
	// Peers returns the gossip addresses of nodes with proved ids, by id, to add as members. Without Seeds, only peers
	// become members. It must not block. Optional.
	Peers func() map[string]netip.AddrPort
	// Introduces reports whether another node has proved that it owns a certificate. It must not block. Optional.
	Introduces func(nodeID string, certificate identity.KeyID) bool
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
	// Refused is called for each rejected message, and for each rejected service or backend of an authenticated message.
	// It must not block. Optional.
	Refused func(Refused)
}

// Refused is a rejected message, service or backend of an agent.
type Refused struct {
	From    netip.Addr
	Stream  bool // received by TCP, so From is not forged
	Known   bool // authenticated by the pinned certificate
	AgentID string
	Claim   wire.RefusedClaim
}

// complete validates the options and sets defaults. Package frame validates the keys.
func (o *Options) complete() error {
	switch {
	case o.Identity == nil, o.Trust == nil, o.Registry == nil, o.Registerer == nil:
		return errors.New("gossip: Identity, Trust, Registry and Registerer must be set")
	case o.Boot == identity.Nonce{}:
		return errors.New("gossip: Boot must be set")
	}
	if err := identity.ValidateID(o.NodeID); err != nil {
		return fmt.Errorf("overwatch.identity.node_id %q: %w", o.NodeID, err)
	}
	for _, seed := range o.Seeds {
		if _, _, err := net.SplitHostPort(seed); err != nil {
			return fmt.Errorf("overwatch.gossip.seeds: %q: want host:port: %w", seed, err)
		}
	}
	o.Bind = cmp.Or(o.Bind, DefaultBind)
	o.ProbeInterval = cmp.Or(o.ProbeInterval, DefaultProbeInterval)
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, DefaultProbeTimeout)
	o.GossipInterval = cmp.Or(o.GossipInterval, DefaultGossipInterval)
	if o.Peers == nil {
		o.Peers = func() map[string]netip.AddrPort { return nil }
	}
	if o.Introduces == nil {
		o.Introduces = func(string, identity.KeyID) bool { return false }
	}
	if o.Refused == nil {
		o.Refused = func(Refused) {}
	}
	return nil
}
