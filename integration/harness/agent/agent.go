// Package agent sends the messages of gslb-agent to a node, in the same octets, without a separate process. It is for a
// fleet of thousands in a process, and for agents that send messages that gslb-agent never sends. It sends messages
// only in calls of methods. A goroutine owns an Agent, except for Ping and Close.
package agent

import (
	"encoding"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// AckTime is the time limit for the answer to a message, the same as gslb-agent's.
const AckTime = time.Second

// Options are the inputs of New. Source and Clock are optional.
type Options struct {
	Dir    string // of its certificate and key, which are made where they are missing
	Name   string // the agent's id
	Cipher *Cipher
	Node   netip.AddrPort // where the node's gossip listens
	Source netip.Addr     // that it speaks from; the zero address: the system's choice
	Tokens map[string]string
	Clock  func() time.Time // nil: time.Now
}

// Agent is an agent, its sessions with its node, and its socket.
type Agent struct {
	Options
	ID    *identity.Identity
	Epoch uint64
	Seq   uint64         // of the last message
	Boot  identity.Nonce // of the node's process, by Hello

	udp     *net.UDPConn
	half    *identity.Exchange // of its sessions
	share   identity.Share     // this agent's, if the node offers sessions
	session atomic.Pointer[identity.Session]
	answers chan answer
}

// answer is a node's reply to a message: an acknowledgement, or a rejection with its reason.
type answer struct {
	kind   wire.Type
	seq    uint64
	reject *wire.Reject
	ack    wire.Ack
}

// Refusal is the error for a message that the node refused, whole or in part.
type Refusal struct {
	Kind    wire.Type
	Codes   []wire.RejectCode // of the message, or of each refused part
	Partial bool              // the rest was taken
}

func (r *Refusal) Error() string { return fmt.Sprintf("the node refused the %s: %v", r.Kind, r.Codes) }

// Refused reports whether an error is the node's refusal with this code.
func Refused(err error, code wire.RejectCode) bool {
	r, refused := errors.AsType[*Refusal](err)
	return refused && slices.Contains(r.Codes, code)
}

// New makes an agent, which listens to its node until Close.
func New(o Options) (*Agent, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	id, _, err := identity.LoadOrCreate(filepath.Join(o.Dir, o.Name+".crt"), filepath.Join(o.Dir, o.Name+".key"),
		o.Name, o.Clock())
	if err != nil {
		return nil, err
	}
	a := &Agent{Options: o, ID: id, Epoch: uint64(o.Clock().UnixMilli()), answers: make(chan answer, 64),
		half: identity.NewExchange()}
	var from *net.UDPAddr
	if o.Source.IsValid() {
		from = net.UDPAddrFromAddrPort(netip.AddrPortFrom(o.Source, 0))
	}
	if a.udp, err = net.DialUDP("udp", from, net.UDPAddrFromAddrPort(o.Node)); err != nil {
		return nil, err
	}
	go a.read()
	return a, nil
}

// Close ends the agent without a word to the node.
func (a *Agent) Close() error { return a.udp.Close() }

// Ping sends memberlist's ping to the node, and waits for nothing.
func (a *Agent) Ping() error {
	name := frame.AgentName(a.ID.KeyID, a.Epoch)
	plain := []byte("\x00\x84\xa5SeqNo\xce\x00\x01\x02\x03\xa4Node\xa0")
	plain = append(plain, "\xaaSourceAddr\xa4\x00\x00\x00\x00\xaaSourceNode\xda\x00"...)
	plain = append(plain, byte(len(name)))
	_, err := a.udp.Write(a.Cipher.Packet(append(plain, name...)))
	return err
}

// Enrol requests the node to pin the agent's certificate for the services of its tokens.
func (a *Agent) Enrol(stream bool, patience time.Duration) error {
	m := &wire.Enrol{AgentID: a.ID.CommonName, Region: "eu", Version: "fleet", Certificate: a.ID.DER, Share: a.share}
	for service, token := range a.Tokens {
		m.Proofs = append(m.Proofs, wire.Proof{Service: service, MAC: identity.Proof(token, service, a.ID.KeyID, a.Boot,
			a.Epoch)})
	}
	return a.Exchange(wire.TypeEnrol, m, stream, patience)
}

// Register is Hello and Enrol, with a Ping between them: a node answers to where an agent's ping came from.
func (a *Agent) Register() error {
	if err := errors.Join(a.Hello(), a.Ping()); err != nil {
		return err
	}
	return a.Enrol(false, AckTime)
}

// Heartbeat sends a heartbeat with all backends, and once more as a stream if that is not acknowledged.
func (a *Agent) Heartbeat(interval time.Duration, backends []wire.Backend) (err error) {
	h := &wire.Heartbeat{
		Region: "eu", Version: "fleet", IntervalMillis: uint32(interval / time.Millisecond), MissedThreshold: 3,
		Backends: backends,
	}
	for _, stream := range []bool{false, true} {
		err = a.Exchange(wire.TypeHeartbeat, h, stream, AckTime)
		if _, refused := errors.AsType[*Refusal](err); err == nil || refused {
			return err
		}
	}
	return err
}

// Raw is a payload that is sent unchanged, whatever the protocol's limits are.
type Raw []byte

// MarshalBinary returns the payload.
func (r Raw) MarshalBinary() ([]byte, error) { return r, nil }

// Exchange sends a message, by datagram if it fits and stream is false, and waits for the node's answer. A refusal,
// also of a part, is returned as a *Refusal.
func (a *Agent) Exchange(kind wire.Type, m encoding.BinaryMarshaler, stream bool, patience time.Duration) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	if err := a.Send(kind, m, stream); err != nil {
		return err
	}
	from := a.Seq
	if kind == wire.TypeEnrol {
		from = 0 // the answer to an earlier one will do
	}
	for {
		select {
		case got := <-a.answers:
			if got.kind == kind && got.seq >= from {
				return got.refusal()
			}
		case <-late.C:
			return fmt.Errorf("%s of %s was not acknowledged", kind, a.ID.CommonName)
		}
	}
}

func (a answer) refusal() error {
	if a.reject != nil {
		return &Refusal{Kind: a.kind, Codes: []wire.RejectCode{a.reject.Code}}
	}
	if len(a.ack.Refused) == 0 {
		return nil
	}
	r := &Refusal{Kind: a.kind, Partial: true}
	for _, part := range a.ack.Refused {
		r.Codes = append(r.Codes, part.Code)
	}
	return r
}

// Send sends a message and waits for nothing.
func (a *Agent) Send(kind wire.Type, m encoding.BinaryMarshaler, stream bool) error {
	payload, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	a.Seq++
	seal := a.ID.Seal
	if session := a.session.Load(); session != nil && kind == wire.TypeHeartbeat && !stream {
		seal = session.Seal
	}
	message := append([]byte{byte(frame.User)}, seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(kind), BootNonce: a.Boot,
		Epoch: a.Epoch, Seq: a.Seq, SentAtMillis: a.Clock().UnixMilli(), Payload: payload,
	})...)
	if stream || len(message) > wire.MaxDatagram {
		return a.stream(message)
	}
	_, err = a.udp.Write(a.Cipher.Packet(message))
	return err
}
