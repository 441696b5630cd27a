// Package agent sends the messages of gslb-agent to a node, octet by octet, without a separate process. It is for
// fleets of thousands of agents in a process, and for agents that send messages that gslb-agent never sends. It sends
// messages only in method calls. A goroutine owns an Agent, except for Ping and Close.
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

// AckTime is the time limit for the answer to a message, as in gslb-agent.
const AckTime = time.Second

// Options are the inputs of New. Source and Clock are optional.
type Options struct {
	Dir    string // directory of its certificate and key, which are created if missing
	Name   string // agent ID
	Cipher *Cipher
	Node   netip.AddrPort // gossip address of the node
	Source netip.Addr     // source address; zero: the system selects it
	Tokens map[string]string
	Clock  func() time.Time // nil: time.Now
}

// Agent is an agent, its sessions with its node, and its socket.
type Agent struct {
	Options
	ID    *identity.Identity
	Epoch uint64
	Seq   uint64         // sequence number of the last message
	Boot  identity.Nonce // nonce of the node's process, from Hello

	udp     *net.UDPConn
	half    *identity.Exchange // state of the session agreement
	share   identity.Share     // share of this agent, if the node offers sessions
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

// Refusal is the error for a message that the node has rejected entirely or in part.
type Refusal struct {
	Kind    wire.Type
	Codes   []wire.RejectCode // codes of the message, or of each rejected part
	Partial bool              // the node accepted the other parts
}

func (r *Refusal) Error() string { return fmt.Sprintf("the node refused the %s: %v", r.Kind, r.Codes) }

// Refused reports whether an error is a rejection by the node with this code.
func Refused(err error, code wire.RejectCode) bool {
	r, refused := errors.AsType[*Refusal](err)
	return refused && slices.Contains(r.Codes, code)
}

// New creates an agent, which receives messages of its node until Close.
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

// Close ends the agent without a message to the node.
func (a *Agent) Close() error { return a.udp.Close() }

// Ping sends memberlist's ping to the node, and does not wait.
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

// Register calls Hello, Ping and Enrol: a node sends its answers to the source of an agent's ping.
func (a *Agent) Register() error {
	if err := errors.Join(a.Hello(), a.Ping()); err != nil {
		return err
	}
	return a.Enrol(false, AckTime)
}

// Heartbeat sends a heartbeat with all backends. If the node does not acknowledge it, Heartbeat repeats it as a stream.
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

// Raw is a payload that is sent unchanged, without regard to protocol limits.
type Raw []byte

// MarshalBinary returns the payload.
func (r Raw) MarshalBinary() ([]byte, error) { return r, nil }

// Exchange sends a message, as a datagram if it fits and stream is false, and waits for the node's answer. It returns a
// *Refusal if the node rejects the message or a part of it.
func (a *Agent) Exchange(kind wire.Type, m encoding.BinaryMarshaler, stream bool, patience time.Duration) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	if err := a.Send(kind, m, stream); err != nil {
		return err
	}
	from := a.Seq
	if kind == wire.TypeEnrol {
		from = 0 // the answer to a previous message is sufficient
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

// Send sends a message and does not wait.
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
