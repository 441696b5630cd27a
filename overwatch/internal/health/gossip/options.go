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

// Truster opens agents' messages. Calls for different agents may come at the same time.
type Truster interface {
	Open(message []byte, from netip.Addr) (trust.Message, *trust.Refusal)
}

// Registry takes what agents say. Calls for different agents may come at the same time.
type Registry interface {
	ApplyHeartbeat(ctx context.Context, from trust.Agent, m *wire.Heartbeat) (registry.Outcome, error)
	ApplyTransition(ctx context.Context, from trust.Agent, m *wire.Transition) (registry.Outcome, error)
	ApplyWarnings(ctx context.Context, from trust.Agent, m *wire.Signal) (registry.Outcome, error)
	ApplyDrain(ctx context.Context, from trust.Agent, m *wire.Drain) (registry.Outcome, error)
	ApplyGoodbye(ctx context.Context, from trust.Agent) error
}

// Options configures a Node. Every field is required unless its comment says otherwise.
type Options struct {
	// Bind is the address and port for UDP and TCP; "" means DefaultBind, port 0 any port that is free for both.
	Bind string
	// Keys are the gossip keys, 32 octets each. The first one encrypts, all of them decrypt.
	Keys [][]byte
	// NodeID names this node to agents and to other nodes; Region and Version (both optional) are shown there.
	NodeID, Region, Version string
	// Identity seals what this node says. Agents pin its certificate.
	Identity *identity.Identity
	// Boot is the nonce of this process, the same that Trust knows.
	Boot identity.Nonce
	// Share is that of the Exchange that Trust has; zero: none.
	Share    identity.Share
	Trust    Truster
	Registry Registry
	// ProbeInterval, ProbeTimeout and GossipInterval are for the other overwatch nodes; zero means the default.
	ProbeInterval, ProbeTimeout, GossipInterval time.Duration
	// Seeds are other overwatch nodes (host:port) to list and to monitor.
	Seeds []string
	// Peers returns the gossip addresses of other nodes that have proved their ids, by id, to list and to monitor too;
	// nil: there are none. Without Seeds, nobody else becomes a member. It must not block.
	Peers func() map[string]netip.AddrPort
	// Introduces reports whether another node has proved that a certificate is its own; nil: none has. It must not block.
	Introduces func(nodeID string, certificate identity.KeyID) bool
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
	// Refused gets each refusal of a message, and of a service or backend in a believed message; nil: none is reported. It
	// must not block.
	Refused func(Refused)
}

// Refused is something that an agent said and this node did not take.
type Refused struct {
	From    netip.Addr
	Stream  bool // it came by TCP, so From is no invention
	Known   bool // the certificate is pinned, and its holder said it
	AgentID string
	Claim   wire.RefusedClaim
}

// complete checks the options and fills in defaults. The keys are checked by package frame.
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
