package gossip // inside: it shares node_helpers_test.go

import (
	"bytes"
	"encoding"
	"errors"
	"io"
	"log"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// patience is the maximum wait for an event that takes milliseconds on an idle machine.
const patience = 30 * time.Second

var (
	gossipKey = bytes.Repeat([]byte{7}, frame.KeySize)
	otherKey  = bytes.Repeat([]byte{8}, frame.KeySize)
)

const (
	testService = "app.example.com"
	testToken   = "0123456789abcdef0123456789abcdef"
)

// testIdentity creates an identity without files outside the test.
func testIdentity(t testing.TB, name string) *identity.Identity {
	t.Helper()
	dir := t.TempDir()
	id, _, err := identity.LoadOrCreate(filepath.Join(dir, "crt"), filepath.Join(dir, "key"), name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// testAgent sends messages to a node like package report, but only on request: it uses memberlist on a socket that no
// peer can reach.
type testAgent struct {
	t       testing.TB
	id      *identity.Identity
	epoch   uint64
	seq     uint64
	node    netip.AddrPort
	boot    identity.Nonce
	list    *memberlist.Memberlist
	udp     *net.UDPConn
	packets chan *memberlist.Packet
	answers chan []byte
	hello   []byte
	half    *identity.Exchange // nil: it wants no session
	session *identity.Session
	source  net.IP // of streams; nil: the system's choice
	once    sync.Once
}

func newTestAgent(t testing.TB, name string, key []byte, node netip.AddrPort) *testAgent {
	t.Helper()
	a := &testAgent{
		t: t, id: testIdentity(t, name), epoch: uint64(time.Now().UnixMilli()), node: node,
		packets: make(chan *memberlist.Packet, 64), answers: make(chan []byte, 4096),
	}
	var err error
	if a.udp, err = net.ListenUDP("udp", nil); err != nil {
		t.Fatal(err)
	}
	go a.read()
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.SecretKey, c.Transport = frame.AgentName(a.id.KeyID, a.epoch), wire.Label, key, a
	c.Delegate, c.Alive = a, a
	c.EnableCompression, c.GossipInterval, c.PushPullInterval = false, 0, 0
	c.TCPTimeout = patience
	c.Logger = log.New(io.Discard, "", 0)
	if a.list, err = memberlist.Create(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

func (a *testAgent) close() { a.list.Shutdown() }

func (a *testAgent) read() {
	for {
		b := make([]byte, 2048)
		n, from, err := a.udp.ReadFrom(b)
		if err != nil {
			return
		}
		select {
		case a.packets <- &memberlist.Packet{Buf: b[:n], From: from, Timestamp: time.Now()}:
		default:
		}
	}
}

// This is the transport. It only sends.

func (a *testAgent) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IPv4zero.To4(), 0, nil
}
func (a *testAgent) WriteTo(b []byte, _ string) (time.Time, error) {
	_, err := a.udp.WriteToUDPAddrPort(b, a.node)
	return time.Now(), err
}
func (a *testAgent) WriteToAddress(b []byte, _ memberlist.Address) (time.Time, error) {
	return a.WriteTo(b, "")
}
func (a *testAgent) DialTimeout(_ string, d time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: d}
	if a.source != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: a.source}
	}
	return dialer.Dial("tcp", a.node.String())
}
func (a *testAgent) DialAddressTimeout(_ memberlist.Address, d time.Duration) (net.Conn, error) {
	return a.DialTimeout("", d)
}
func (a *testAgent) PacketCh() <-chan *memberlist.Packet { return a.packets }
func (a *testAgent) StreamCh() <-chan net.Conn           { return nil }
func (a *testAgent) Shutdown() error                     { a.once.Do(func() { a.udp.Close() }); return nil }

// This is the delegate. It receives the Hello and the answers, and knows no members.

func (a *testAgent) NodeMeta(int) []byte             { return nil }
func (a *testAgent) NotifyMsg(b []byte)              { a.answers <- bytes.Clone(b) }
func (a *testAgent) GetBroadcasts(int, int) [][]byte { return nil }
func (a *testAgent) LocalState(bool) []byte          { return nil }
func (a *testAgent) MergeRemoteState(b []byte, _ bool) {
	a.hello = bytes.Clone(b)
}
func (a *testAgent) NotifyAlive(n *memberlist.Node) error {
	if n.Addr.IsUnspecified() {
		return nil
	}
	return errors.New("no members")
}

// greet requests the Hello and stores the boot nonce.
func (a *testAgent) greet() error {
	a.hello = nil
	if _, err := a.list.Join([]string{a.node.String()}); err != nil {
		return err
	}
	sealed, err := identity.Parse(a.hello)
	if err != nil {
		return err
	}
	var hello wire.Hello
	if err := hello.UnmarshalBinary(sealed.Payload); err != nil {
		return err
	}
	a.boot = hello.BootNonce
	if a.half == nil {
		return nil
	}
	a.session, err = a.half.Agree(identity.Pairing{
		Agent: a.id.KeyID, Node: sealed.KeyID, Boot: a.boot, Epoch: a.epoch, AgentShare: a.half.Share(),
		NodeShare: hello.Share,
	})
	return err
}

func (a *testAgent) seal(t wire.Type, m encoding.BinaryMarshaler) []byte {
	a.t.Helper()
	payload, err := m.MarshalBinary()
	if err != nil {
		a.t.Fatal(err)
	}
	a.seq++
	return a.id.Seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(t), BootNonce: a.boot, Epoch: a.epoch, Seq: a.seq, Payload: payload,
	})
}

func (a *testAgent) enrolment() []byte {
	m := &wire.Enrol{
		AgentID: a.id.CommonName, Region: "eu", Version: "1", Certificate: a.id.DER,
		Proofs: []wire.Proof{{Service: testService,
			MAC: identity.Proof(testToken, testService, a.id.KeyID, a.boot, a.epoch)}},
	}
	if a.half != nil {
		m.Share = a.half.Share()
	}
	return a.seal(wire.TypeEnrol, m)
}

func (a *testAgent) datagram(message []byte) {
	a.t.Helper()
	if err := a.list.SendToAddress(memberlist.Address{Addr: a.node.String()}, message); err != nil {
		a.t.Fatal(err)
	}
}

func (a *testAgent) stream(message []byte) error {
	return a.list.SendReliable(&memberlist.Node{Addr: a.node.Addr().AsSlice(), Port: a.node.Port()}, message)
}

func (a *testAgent) ping() error {
	_, err := a.list.Ping("", net.UDPAddrFromAddrPort(a.node))
	return err
}

// reach sends pings until the node answers in time, because a stalled machine may need more than half a second.
func (a *testAgent) reach() {
	a.t.Helper()
	eventually(a.t, "a ping is answered", func() bool { return a.ping() == nil })
}

// enrol requests the Hello and enrols. It fails the test unless the node acknowledges the enrolment.
func (a *testAgent) enrol() {
	a.t.Helper()
	if err := a.greet(); err != nil {
		a.t.Fatal(err)
	}
	a.datagram(a.enrolment())
	if ack := a.ack(); ack.AckedType != wire.TypeEnrol || len(ack.Services) != 1 {
		a.t.Fatalf("enrolment answered with %+v", ack)
	}
}

// answer waits for the next answer of the node, opens the answer and returns its envelope.
func (a *testAgent) answer() identity.Sealed {
	a.t.Helper()
	select {
	case b := <-a.answers:
		sealed, err := identity.Parse(b)
		if err != nil {
			a.t.Fatal(err)
		}
		return sealed
	case <-time.After(patience):
		a.t.Fatal("no answer")
		panic("unreachable")
	}
}

func (a *testAgent) ack() (ack wire.Ack) {
	a.t.Helper()
	sealed := a.answer()
	if wire.Type(sealed.Type) != wire.TypeAck {
		a.t.Fatalf("answered with a %s", wire.Type(sealed.Type))
	}
	if err := ack.UnmarshalBinary(sealed.Payload); err != nil {
		a.t.Fatal(err)
	}
	return ack
}

func (a *testAgent) reject() (reject wire.Reject) {
	a.t.Helper()
	sealed := a.answer()
	if wire.Type(sealed.Type) != wire.TypeReject {
		a.t.Fatalf("answered with a %s", wire.Type(sealed.Type))
	}
	if err := reject.UnmarshalBinary(sealed.Payload); err != nil {
		a.t.Fatal(err)
	}
	return reject
}

func testBackend() wire.Backend {
	return wire.Backend{
		Service: testService, Address: netip.MustParseAddr("192.0.2.10"), Port: 8080, Weight: 100, Claim: wire.ClaimHealthy,
		Check: wire.Check{Type: "tcp", IntervalMillis: 5000, TimeoutMillis: 2000, FailureThreshold: 3, SuccessThreshold: 2},
	}
}

func (a *testAgent) heartbeat() []byte {
	return a.seal(wire.TypeHeartbeat, &wire.Heartbeat{Region: "eu", IntervalMillis: 10000, MissedThreshold: 3,
		Backends: []wire.Backend{testBackend()}})
}
