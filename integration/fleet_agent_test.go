package integration_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// cipherText writes what memberlist puts on the wire with the cluster's gossip key.
type cipherText struct {
	aead    cipher.AEAD
	keyring *frame.Keyring
}

func newCipherText(t *testing.T, gossipKey string) *cipherText {
	t.Helper()
	c, err := encipher(gossipKey)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encipher is newCipherText for what is not a test.
func encipher(gossipKey string) (c *cipherText, err error) {
	key, err := base64.StdEncoding.DecodeString(gossipKey)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	c = &cipherText{}
	if c.aead, err = cipher.NewGCM(block); err != nil {
		return nil, err
	}
	c.keyring, err = frame.NewKeyring(wire.Label, [][]byte{key})
	return c, err
}

// label is what stands in front of every packet and stream.
var label = append([]byte{244, byte(len(wire.Label))}, wire.Label...)

func (c *cipherText) seal(dst, plain, authenticated []byte) []byte {
	nonce := make([]byte, c.aead.NonceSize())
	rand.Read(nonce)
	dst = append(append(dst, 1), nonce...)
	return c.aead.Seal(dst, nonce, plain, authenticated)
}

func (c *cipherText) packet(plain []byte) []byte {
	return c.seal(bytes.Clone(label), plain, []byte(wire.Label))
}

func (c *cipherText) stream(plain []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{10}, uint32(1+c.aead.NonceSize()+len(plain)+c.aead.Overhead()))
	return c.seal(append(bytes.Clone(label), head...), plain, append(bytes.Clone(head), wire.Label...))
}

// fleetAgent speaks to a node as gslb-agent does, in the octets that gslb-agent sends, without a process of its own: it
// takes its turn when the fleet tells it to.
type fleetAgent struct {
	id       *identity.Identity
	epoch    uint64
	ahead    time.Duration // its clock
	seq      uint64
	service  string
	token    string
	backends []wire.Backend
	source   netip.Addr // of its own, as a real agent's is
	node     netip.AddrPort
	cipher   *cipherText
	udp      *net.UDPConn
	boot     identity.Nonce
	half     *identity.Exchange // of its sessions
	share    identity.Share     // this agent's, if the node offers sessions
	session  atomic.Pointer[identity.Session]
	acks     chan wire.Ack
}

// newFleetAgent makes the i-th agent. Its source address and those of its backends belong to nobody else.
func newFleetAgent(dir string, i int, c *cipherText, node netip.AddrPort, service, token string) (*fleetAgent, error) {
	name := fmt.Sprintf("fleet-%05d", i)
	id, _, err := identity.LoadOrCreate(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"), name, time.Now())
	if err != nil {
		return nil, err
	}
	a := &fleetAgent{id: id, epoch: uint64(time.Now().UnixMilli()), service: service, token: token, node: node, cipher: c,
		source: netip.AddrFrom4([4]byte{127, 80, byte(i >> 8), byte(i)}), acks: make(chan wire.Ack, 8), half: identity.NewExchange()}
	for k := range fleetBackends {
		a.backends = append(a.backends, wire.Backend{
			Service: service, Address: netip.AddrFrom4([4]byte{10, byte(k), byte(i >> 8), byte(i)}), Port: 8080, Weight: 100, Claim: wire.ClaimHealthy,
			Check: wire.Check{Type: "http", Path: "/health", IntervalMillis: 5000, TimeoutMillis: 2000, FailureThreshold: 3, SuccessThreshold: 2},
		})
	}
	a.udp, err = net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a.source, 0)), net.UDPAddrFromAddrPort(node))
	return a, err
}

// read takes the node's answers until the socket is closed.
func (a *fleetAgent) read() {
	raw, scratch := make([]byte, frame.MaxPacket+1), make([]byte, 0, frame.MaxPacket)
	for {
		n, err := a.udp.Read(raw)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		plain, fault := a.cipher.keyring.OpenPacket(scratch, raw[:max(n, 0)])
		if err != nil || fault != frame.None {
			continue
		}
		p, fault := frame.ParsePacket(plain)
		if fault != frame.None || p.User == nil {
			continue // the answer to a ping
		}
		sealed, err := identity.Parse(p.User)
		if err != nil || wire.Type(sealed.Type) != wire.TypeAck || sealed.InSession() && !sealed.Authentic(identity.NodeToAgent, a.session.Load()) {
			continue
		}
		var ack wire.Ack
		if ack.UnmarshalBinary(sealed.Payload) == nil {
			select {
			case a.acks <- ack:
			default:
			}
		}
	}
}

// hello opens a push/pull and learns which process the node is.
func (a *fleetAgent) hello() error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	request := append([]byte{byte(frame.PushPull)}, "\x83\xa5Nodes\x00\xacUserStateLen\x00\xa4Join\xc3"...)
	if _, err := conn.Write(a.cipher.stream(request)); err != nil {
		return err
	}
	header, fault := a.cipher.keyring.ReadReplyHeader(conn)
	if fault != frame.None {
		return errors.New("answer to the push/pull: " + string(fault))
	}
	_, plain, fault := a.cipher.keyring.ReadBody(conn, header)
	if fault != frame.None {
		return errors.New("answer to the push/pull: " + string(fault))
	}
	sealed, err := userState(plain)
	if err != nil {
		return err
	}
	var hello wire.Hello
	if err := hello.UnmarshalBinary(sealed.Payload); err != nil {
		return err
	}
	a.boot = sealed.BootNonce
	if hello.Share == (identity.Share{}) {
		return nil // an earlier version
	}
	a.share = a.half.Share()
	session, err := a.half.Agree(identity.Pairing{
		Agent: a.id.KeyID, Node: sealed.KeyID, Boot: a.boot, Epoch: a.epoch, AgentShare: a.share, NodeShare: hello.Share,
	})
	a.session.Store(session)
	return err
}

// userState finds the sealed Hello, which is the last thing in the answer to a push/pull.
func userState(plain []byte) (identity.Sealed, error) {
	_, rest, found := bytes.Cut(plain, []byte("UserStateLen\xd1")) // MessagePack: a 16 bit number follows
	if !found || len(rest) < 2 || int(binary.BigEndian.Uint16(rest)) > len(rest) {
		return identity.Sealed{}, fmt.Errorf("no user state in %q", plain)
	}
	return identity.Parse(rest[len(rest)-int(binary.BigEndian.Uint16(rest)):])
}

func (a *fleetAgent) dial() (net.Conn, error) {
	d := net.Dialer{Timeout: 3 * time.Second, LocalAddr: &net.TCPAddr{IP: a.source.AsSlice()}}
	conn, err := d.Dial("tcp4", a.node.String())
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(3 * time.Second))
	}
	return conn, err
}

// ping asks for a sign of life, as memberlist does.
func (a *fleetAgent) ping() error {
	name := frame.AgentName(a.id.KeyID, a.epoch)
	plain := append([]byte("\x00\x84\xa5SeqNo\xce\x00\x01\x02\x03\xa4Node\xa0\xaaSourceAddr\xa4\x00\x00\x00\x00\xaaSourceNode\xda\x00"), byte(len(name)))
	_, err := a.udp.Write(a.cipher.packet(append(plain, name...)))
	return err
}

// exchange sends a message, by datagram if it fits and stream is false, and waits for its Ack.
func (a *fleetAgent) exchange(kind wire.Type, m encoding.BinaryMarshaler, stream bool, patience time.Duration) error {
	payload, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	a.seq++
	seal := a.id.Seal
	if session := a.session.Load(); session != nil && kind == wire.TypeHeartbeat && !stream {
		seal = session.Seal
	}
	message := append([]byte{byte(frame.User)}, seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(kind), BootNonce: a.boot,
		Epoch: a.epoch, Seq: a.seq, SentAtMillis: time.Now().Add(a.ahead).UnixMilli(), Payload: payload,
	})...)
	late := time.NewTimer(patience)
	defer late.Stop()
	if stream || len(message) > wire.MaxDatagram {
		err = a.send(message)
	} else {
		_, err = a.udp.Write(a.cipher.packet(message))
	}
	from := a.seq
	if kind == wire.TypeEnrol {
		from = 0 // the Ack to an earlier one will do
	}
	if err == nil && !a.acknowledged(kind, from, late.C) {
		err = fmt.Errorf("%s of %s was not acknowledged", kind, a.id.CommonName)
	}
	return err
}

// send sends a user message as a stream, framed as memberlist does.
func (a *fleetAgent) send(message []byte) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	head := append([]byte{byte(frame.User)}, "\x81\xaaUserMsgLen\xd1"...)
	head = binary.BigEndian.AppendUint16(head, uint16(len(message)-1))
	_, err = conn.Write(a.cipher.stream(append(head, message[1:]...)))
	return err
}

// ackTime is how long the Ack to a message is waited for, as the agent does.
const ackTime = time.Second

// acknowledged waits for the Ack to a message of a kind, from a sequence number on.
func (a *fleetAgent) acknowledged(kind wire.Type, from uint64, late <-chan time.Time) bool {
	for {
		select {
		case ack := <-a.acks:
			if ack.AckedType == kind && ack.AckedSeq >= from {
				return len(ack.Refused) == 0
			}
		case <-late:
			return false
		}
	}
}

func (a *fleetAgent) enrol(stream bool, patience time.Duration) error {
	return a.exchange(wire.TypeEnrol, &wire.Enrol{
		AgentID: a.id.CommonName, Region: "eu", Version: "fleet", Certificate: a.id.DER,
		Proofs: []wire.Proof{{Service: a.service, MAC: identity.Proof(a.token, a.service, a.id.KeyID, a.boot, a.epoch)}}, Share: a.share,
	}, stream, patience)
}

// heartbeat sends the whole state, and once more as a stream if that is not acknowledged.
func (a *fleetAgent) heartbeat() (err error) {
	for _, stream := range []bool{false, true} {
		err = a.exchange(wire.TypeHeartbeat, &wire.Heartbeat{
			Region: "eu", Version: "fleet", IntervalMillis: uint32(fleetInterval / time.Millisecond), MissedThreshold: 3, Backends: a.backends,
		}, stream, ackTime)
		if err == nil {
			return nil
		}
	}
	return err
}

// registers has a node take the agent as one that it knows, and goes on trying on a machine that is late, as gslb-agent does.
func (a *fleetAgent) registers(t *testing.T) {
	t.Helper()
	until(t, 3*ackTime, a.id.CommonName+" to be registered", func(context.Context) error {
		return errors.Join(a.hello(), a.enrol(false, ackTime))
	})
}

// keeps has a node take a heartbeat, in the same way.
func (a *fleetAgent) keeps(t *testing.T) {
	t.Helper()
	until(t, 2*ackTime, "a heartbeat of "+a.id.CommonName+" to be taken", func(context.Context) error { return a.heartbeat() })
}
