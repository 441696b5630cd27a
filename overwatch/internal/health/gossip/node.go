package gossip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"golang.org/x/sync/errgroup"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/wire"
)

const (
	streamTime   = 5 * time.Second  // timeout of memberlist for an answer on a stream
	syncInterval = 30 * time.Second // between state exchanges of overwatch nodes
)

// Node is the gossip side of an overwatch node.
type Node struct {
	options   Options
	metrics   *metrics
	transport *transport
	intake    *intake
	members   *members
	seeds     seeds
	skews     *skews
	limits    *agentLimits

	rejections rejections
	list       *memberlist.Memberlist // set by Run before its first use
	config     *memberlist.Config
	answers    atomic.Uint64 // number of sealed answers, which is their sequence number

	heartbeats sync.Pool // of *wire.Heartbeat
}

// New opens the sockets, which detects a used port early. It reads no packets before Run.
func New(o Options) (*Node, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	keyring, err := frame.NewKeyring(wire.Label, o.Keys)
	if err != nil {
		return nil, fmt.Errorf("overwatch.gossip.encryption_key: %w", err)
	}
	drops, dropped := newDrops(o.Logger)
	n := &Node{options: o, metrics: newMetrics(), intake: newIntake(drops), skews: newSkews(o.Logger),
		limits:     newAgentLimits(),
		rejections: rejections{nodes: make(map[wire.NodeCertificate]map[string]time.Time)},
		heartbeats: sync.Pool{New: func() any { return new(wire.Heartbeat) }}}
	hello, err := n.sealHello()
	if err != nil {
		return nil, err
	}
	if n.config, err = n.memberlistConfig(); err != nil {
		return nil, err
	}
	s, err := bindSockets(o.Bind)
	if err != nil {
		return nil, err
	}
	n.transport = newTransport(s, keyring, drops, self{nodeID: o.NodeID, boot: o.Boot, hello: hello}, n.intake.deliver)
	n.config.Transport, n.config.BindPort = n.transport, int(s.addr().Port())
	n.members = newMembers(Member{
		Name: o.NodeID, Address: n.transport.ownAddr(), Region: o.Region, Version: o.Version, Status: StatusAlive,
		JoinedAt: time.Now(),
		Self:     true,
	}, o.ProbeInterval)
	if err := n.register(dropped); err != nil {
		s.closeBoth()
		return nil, err
	}
	return n, nil
}

// Addr returns the address that agents can reach; UDP and TCP have the same port.
func (n *Node) Addr() netip.AddrPort { return n.transport.addr() }

// Advertised returns the address of this node in other nodes' member lists.
func (n *Node) Advertised() netip.AddrPort { return n.transport.ownAddr() }

// Members returns the known overwatch nodes, including this node, ordered by name.
func (n *Node) Members() []Member { return n.members.list(time.Now()) }

// IsAlive reports whether a node is alive.
func (n *Node) IsAlive(name string) bool {
	return slices.ContainsFunc(n.Members(), func(m Member) bool { return m.Name == name && m.Status == StatusAlive })
}

// LastAddress returns the source address of the last message of a certificate's holder, with the port for a datagram.
// It is invalid if there was no message since the start.
func (n *Node) LastAddress(key identity.KeyID) netip.AddrPort { return n.transport.paths.latest(key) }

// Run serves agents until ctx ends, and closes the sockets. It must be called once.
func (n *Node) Run(ctx context.Context) error {
	defer n.transport.shut()
	list, err := memberlist.Create(n.config)
	if err != nil {
		return fmt.Errorf("starting memberlist: %w", err)
	}
	n.list = list
	n.transport.open()
	g, ctx := errgroup.WithContext(ctx)
	n.intake.run(ctx, g, n.handleMessage)
	for _, seed := range n.options.Seeds {
		g.Go(func() error { return n.syncWithSeed(ctx, seed) })
	}
	g.Go(func() error { return n.syncWithPeers(ctx) })
	g.Go(func() error { return n.pingDead(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		return n.list.Shutdown()
	})
	return g.Wait()
}

// pingDead pings a member that memberlist treats as dead in each probe interval, since a sender with the gossip key can
// forge its death.
func (n *Node) pingDead(ctx context.Context) error {
	ticker := time.NewTicker(n.options.ProbeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		name, at, ok := n.members.nextDead()
		if !ok {
			continue
		}
		if rtt, err := n.list.Ping(name, net.UDPAddrFromAddrPort(at)); err == nil {
			n.members.recordPing(name, rtt, time.Now())
		}
	}
}

// memberlistConfig returns the configuration of memberlist: encrypted, uncompressed, without relayed pings.
func (n *Node) memberlistConfig() (*memberlist.Config, error) {
	keyring, err := memberlist.NewKeyring(n.options.Keys, n.options.Keys[0])
	if err != nil {
		return nil, fmt.Errorf("overwatch.gossip.encryption_key: %w", err)
	}
	d := &delegate{node: n}
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.Keyring = n.options.NodeID, wire.Label, keyring
	c.EnableCompression = false // compressed messages are rejected, because their decompressed size is unlimited
	c.IndirectChecks = 0        // nodes do not relay pings
	c.Delegate, c.Events, c.Ping, c.Alive = d, d, d, d
	c.TCPTimeout = streamTime
	c.UDPBufferSize = frame.SafePacket
	c.ProbeInterval, c.ProbeTimeout = n.options.ProbeInterval, n.options.ProbeTimeout
	c.GossipInterval, c.PushPullInterval = n.options.GossipInterval, syncInterval
	c.DeadNodeReclaimTime = syncInterval // a node may return at another address
	if len(n.options.Seeds) == 0 {
		c.GossipInterval, c.PushPullInterval = 0, 0 // there are no seeds to gossip with
	}
	c.Logger = logging.Library(n.options.Logger)
	return c, nil
}

// sealHello seals this node's Hello, which is the same for all agents and the lifetime of the process.
func (n *Node) sealHello() ([]byte, error) {
	o := n.options
	m := wire.Hello{NodeID: o.NodeID, Version: o.Version, BootNonce: o.Boot, Certificate: o.Identity.DER, Share: o.Share}
	payload, err := m.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("encoding this node's hello: %w", err)
	}
	return o.Identity.Seal(identity.NodeToAgent, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(wire.TypeHello), BootNonce: o.Boot,
		Seq: 1, SentAtMillis: time.Now().UnixMilli(), Payload: payload,
	}), nil
}
