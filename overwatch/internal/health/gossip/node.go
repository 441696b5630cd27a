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
	streamTime   = 5 * time.Second  // for memberlist to answer a stream, or to get an answer on one
	syncInterval = 30 * time.Second // between exchanges of whole state among overwatch nodes
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
	list       *memberlist.Memberlist // set by Run before anything uses it
	config     *memberlist.Config
	answers    atomic.Uint64 // sealed answers, their sequence number

	heartbeats sync.Pool // of *wire.Heartbeat
}

// New opens the sockets, so that a port in use is known before anything else starts. Nothing is read before Run.
func New(o Options) (*Node, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	keyring, err := frame.NewKeyring(wire.Label, o.Keys)
	if err != nil {
		return nil, fmt.Errorf("overwatch.gossip.encryption_key: %w", err)
	}
	drops, dropped := newDrops(o.Logger)
	n := &Node{options: o, metrics: newMetrics(), intake: newIntake(drops), skews: newSkews(o.Logger), limits: newAgentLimits(),
		rejections: rejections{nodes: make(map[wire.NodeCertificate]map[string]time.Time)},
		heartbeats: sync.Pool{New: func() any { return new(wire.Heartbeat) }}}
	hello, err := n.hello()
	if err != nil {
		return nil, err
	}
	if n.config, err = n.memberlistConfig(); err != nil {
		return nil, err
	}
	s, err := listen(o.Bind)
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
		s.close()
		return nil, err
	}
	return n, nil
}

// Addr returns the address that agents can reach; UDP and TCP have the same port.
func (n *Node) Addr() netip.AddrPort { return n.transport.addr() }

// Advertised returns the address under which other overwatch nodes list this one.
func (n *Node) Advertised() netip.AddrPort { return n.transport.ownAddr() }

// Members returns the overwatch nodes that are known, this one among them, ordered by name.
func (n *Node) Members() []Member { return n.members.list(time.Now()) }

// Hears reports whether a node counts as alive.
func (n *Node) Hears(name string) bool {
	return slices.ContainsFunc(n.Members(), func(m Member) bool { return m.Name == name && m.Status == StatusAlive })
}

// HeardFrom returns the address that the newest message of a certificate's holder came from, and its port if it was a
// datagram; not valid if none came since the node's start.
func (n *Node) HeardFrom(key identity.KeyID) netip.AddrPort { return n.transport.paths.latest(key) }

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
	n.intake.run(ctx, g, n.handle)
	for _, seed := range n.options.Seeds {
		g.Go(func() error { return n.keepSeed(ctx, seed) })
	}
	g.Go(func() error { return n.keepPeers(ctx) })
	g.Go(func() error { return n.pingDead(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		return n.list.Shutdown()
	})
	return g.Wait()
}

// pingDead pings the members that memberlist calls dead, one in each probe interval, since whoever has the gossip key
// can make memberlist believe it.
func (n *Node) pingDead(ctx context.Context) error {
	ticker := time.NewTicker(n.options.ProbeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		name, at, ok := n.members.next()
		if !ok {
			continue
		}
		if rtt, err := n.list.Ping(name, net.UDPAddrFromAddrPort(at)); err == nil {
			n.members.answered(name, rtt, time.Now())
		}
	}
}

// memberlistConfig sets memberlist up: encrypted, uncompressed, without relayed pings.
func (n *Node) memberlistConfig() (*memberlist.Config, error) {
	keyring, err := memberlist.NewKeyring(n.options.Keys, n.options.Keys[0])
	if err != nil {
		return nil, fmt.Errorf("overwatch.gossip.encryption_key: %w", err)
	}
	d := &delegate{node: n}
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.Keyring = n.options.NodeID, wire.Label, keyring
	c.EnableCompression = false // nor do we take compressed messages: a small one can hold very much
	c.IndirectChecks = 0        // nobody relays a ping for anybody
	c.Delegate, c.Events, c.Ping, c.Alive = d, d, d, d
	c.TCPTimeout = streamTime
	c.UDPBufferSize = frame.SafePacket
	c.ProbeInterval, c.ProbeTimeout = n.options.ProbeInterval, n.options.ProbeTimeout
	c.GossipInterval, c.PushPullInterval = n.options.GossipInterval, syncInterval
	c.DeadNodeReclaimTime = syncInterval // a node may come back at another address
	if len(n.options.Seeds) == 0 {
		c.GossipInterval, c.PushPullInterval = 0, 0 // there is nobody to tell
	}
	c.Logger = logging.Library(n.options.Logger)
	return c, nil
}

// hello seals this node's introduction. It is the same for everybody and for the life of the process.
func (n *Node) hello() ([]byte, error) {
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
