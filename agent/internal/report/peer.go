package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	streamTime     = 3 * time.Second        // timeout of connecting, and of an answer
	pingInterval   = 2 * time.Second        // interval of pings, and maximum time to detect the restart of a node
	retryPingAfter = time.Second            // pause after an unanswered ping
	pingTime       = 500 * time.Millisecond // timeout of a ping
	resolveTime    = 3 * time.Second
)

// peer exchanges messages with an overwatch node. Any goroutine may call its methods. ping may block for pingTime,
// stream for streamTime at each step (connect, write), and hello for resolveTime plus the steps at each address of the
// node.
type peer interface {
	// hello opens a push/pull with the node and returns the sealed Hello in the answer, or a *contactError.
	hello(ctx context.Context) ([]byte, error)
	// ping sends a ping and returns the round-trip time.
	ping() (time.Duration, error)
	// boot returns the nonce of the last answer to a ping. It indicates a restart of the node, without proof.
	boot() (identity.Nonce, bool)
	// datagram sends a message that may be lost.
	datagram(message []byte) error
	// stream sends a message and returns when it is written. The node may still drop it.
	stream(message []byte) error
	close()
}

// memberPeer is a peer with a separate memberlist instance.
type memberPeer struct {
	address   string // host:port as configured
	transport *outbound
	list      *memberlist.Memberlist

	mu      sync.Mutex // serializes Hellos
	greeted []byte     // user state of the last push/pull; guarded by mu
}

// newMemberPeer starts a memberlist instance without members.
func newMemberPeer(address, name string, keys [][]byte, heard func([]byte), dropped func(frame.Fault)) (*memberPeer,
	error) {
	keyring, err := frame.NewKeyring(wire.Label, keys)
	if err != nil {
		return nil, fmt.Errorf("agent.gossip.encryption_key: %w", err)
	}
	secrets, err := memberlist.NewKeyring(keys, keys[0])
	if err != nil {
		return nil, fmt.Errorf("agent.gossip.encryption_key: %w", err)
	}
	transport, err := newOutbound(keyring, heard, dropped)
	if err != nil {
		return nil, err
	}
	p := &memberPeer{address: address, transport: transport}
	d := &delegate{name: name, merged: func(state []byte) { p.greeted = append([]byte(nil), state...) }}
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.Keyring, c.Transport = name, wire.Label, secrets, transport
	c.EnableCompression = false
	c.IndirectChecks = 0
	c.Delegate, c.Alive = d, d
	c.TCPTimeout = streamTime
	c.ProbeInterval, c.ProbeTimeout = retryPingAfter, pingTime
	c.GossipInterval, c.PushPullInterval = 0, 0
	c.Logger = log.New(io.Discard, "", 0) // this package logs the errors itself, with their remedies
	if p.list, err = memberlist.Create(c); err != nil {
		_ = transport.Shutdown()
		return nil, fmt.Errorf("starting memberlist: %w", err)
	}
	return p, nil
}

func (p *memberPeer) hello(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	targets, err := resolve(ctx, p.address)
	if err != nil {
		return nil, &contactError{reasonResolve, err}
	}
	p.greeted = nil
	for _, target := range targets {
		p.transport.target.Store(&target)
		p.transport.reply.Store(frame.None)
		// memberlist does not support zones; the transport knows the target
		literal := netip.AddrPortFrom(target.Addr().WithZone(""), target.Port())
		if _, err = p.list.Join([]string{literal.String()}); err == nil {
			break
		}
	}
	switch {
	case err != nil:
		return nil, p.contactErrorOf(err)
	case len(p.greeted) == 0:
		return nil, &contactError{reasonHello, errors.New(
			"it answered without a Hello: it is not a gslb overwatch node")}
	}
	return p.greeted, nil
}

// resolve looks up the node's name. It sorts the addresses of a family, so that an agent stays with the same node if
// the name has two nodes.
func resolve(ctx context.Context, address string) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	number, err := net.DefaultResolver.LookupPort(ctx, "udp", port)
	if err != nil {
		return nil, err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	return sortByFamily(found, uint16(number)), nil
}

// sortByFamily sorts addresses within their family, with the family of the first address first.
func sortByFamily(found []netip.Addr, port uint16) []netip.AddrPort {
	targets := make([]netip.AddrPort, len(found))
	for i, a := range found {
		targets[i] = netip.AddrPortFrom(a.Unmap(), port)
	}
	fourFirst := len(targets) > 0 && targets[0].Addr().Is4()
	slices.SortFunc(targets, func(a, b netip.AddrPort) int {
		if a.Addr().Is4() != b.Addr().Is4() && !fourFirst {
			return -a.Compare(b)
		}
		return a.Compare(b) // IPv4 before IPv6
	})
	return targets
}

// contactErrorOf returns the cause of a failed push/pull. memberlist does not wrap errors, so the records of the
// transport and the text are the only sources.
func (p *memberPeer) contactErrorOf(err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	find := func(causes ...error) error {
		for _, cause := range causes {
			if strings.Contains(text, cause.Error()) {
				return cause
			}
		}
		return nil
	}
	switch fault, _ := p.transport.reply.Load().(frame.Fault); {
	case fault == frame.Key:
		return &contactError{reasonKey, errors.New(
			"it answered with another gossip key: compare gossip.encryption_key on both sides")}
	case fault == frame.Incomplete, find(syscall.ECONNRESET, syscall.EPIPE) != nil:
		if _, err := p.ping(); err == nil { // the key is correct
			return &contactError{reasonBusy, errors.New(
				"it closed the connection although it answers pings: it has reached its limit of streams")}
		}
		return &contactError{reasonKey, errors.New(
			"it closed the connection without an answer: its gossip.encryption_key differs from ours, or it is no gslb " +
				"overwatch node of our major version")}
	case fault != frame.None:
		return &contactError{reasonHello, errors.New("the answer is not from gslb: check the address and port")}
	}
	if cause := find(syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH); cause != nil {
		return &contactError{reasonUnreachable, cause}
	}
	return &contactError{reasonUnreachable, errors.New(text)}
}

func (p *memberPeer) ping() (time.Duration, error) {
	target := p.transport.target.Load()
	if target == nil {
		return 0, errNoAddress
	}
	begun := time.Now()
	rtt, err := p.list.Ping("", net.UDPAddrFromAddrPort(*target)) // any name: the node's own is not known before its Hello
	if rtt <= 0 {
		rtt = time.Since(begun) // memberlist reads the clock after sending, possibly after the answer on the same host
	}
	return rtt, err
}

func (p *memberPeer) boot() (identity.Nonce, bool) {
	if nonce := p.transport.boot.Load(); nonce != nil {
		return *nonce, true
	}
	return identity.Nonce{}, false
}

func (p *memberPeer) datagram(message []byte) error {
	target := p.transport.target.Load()
	if target == nil {
		return errNoAddress
	}
	return p.list.SendToAddress(memberlist.Address{Addr: target.String()}, message)
}

func (p *memberPeer) stream(message []byte) error {
	target := p.transport.target.Load()
	if target == nil {
		return errNoAddress
	}
	return p.list.SendReliable(&memberlist.Node{Addr: target.Addr().AsSlice(), Port: target.Port()}, message)
}

func (p *memberPeer) close() { _ = p.list.Shutdown() } // the transport returns no error

// errNoAddress means that the node's name could not be resolved.
var errNoAddress = errors.New("the address of the node is unknown")

// delegate answers memberlist's calls for a memberPeer.
type delegate struct {
	name   string
	merged func([]byte) // called within Join only
}

// NodeMeta returns nil, because the agent has no metadata.
func (d *delegate) NodeMeta(int) []byte { return nil }

// NotifyMsg is never called, because the transport removes user messages from the packets.
func (d *delegate) NotifyMsg([]byte) {}

// GetBroadcasts returns nil, because the agent does not broadcast.
func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState returns nil. The agent's messages are sealed for a process of the node, which is still unknown.
func (d *delegate) LocalState(bool) []byte { return nil }

// MergeRemoteState stores the node's sealed Hello.
func (d *delegate) MergeRemoteState(state []byte, _ bool) { d.merged(state) }

// NotifyAlive rejects every member. The link watches its node at the configured address, and ignores the address that
// the node announces.
func (d *delegate) NotifyAlive(peer *memberlist.Node) error {
	if peer.Name == d.name {
		return nil
	}
	return errors.New("port " + strconv.Itoa(int(peer.Port)) + ": agents know no members")
}
