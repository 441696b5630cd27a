package identity

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
)

// Nonce is drawn once per process of an overwatch node; messages to the node carry it, so that a recording of them fits no
// later process.
type Nonce [16]byte

// NewNonce draws a nonce.
func NewNonce() (n Nonce) {
	rand.Read(n[:]) // never fails: crypto/rand ends the process rather than return weak octets
	return n
}

// Direction says who seals for whom. A message sealed in one direction is worthless in the other.
type Direction uint8

// The directions.
const (
	AgentToNode Direction = 1
	NodeToAgent Direction = 2
)

// context is the domain separation string of RFC 8032, section 5.1 (Ed25519ctx).
func (d Direction) context() string {
	switch d {
	case AgentToNode:
		return "gslb/1 agent to node"
	case NodeToAgent:
		return "gslb/1 node to agent"
	}
	panic("identity: unknown direction")
}

// Envelope is what surrounds a message. In memory it is in clear and unsigned; Seal signs it, Parse and Verify open it.
type Envelope struct {
	Major, Minor uint8 // protocol version of the sender
	Type         uint8 // of the message: wire.Type
	KeyID        KeyID // of the sender's certificate; Seal fills it in
	BootNonce    Nonce // of the node process concerned: the receiver of AgentToNode, the sender of NodeToAgent
	Epoch        uint64
	Seq          uint64 // counts up within an epoch, from 1
	SentAtMillis int64  // Unix time at the sender, for diagnosis; nothing is decided by it
	Payload      []byte
}

// Layout of a sealed message, all numbers big-endian:
//
//	0 magic "GS"  2 major  3 minor  4 type  5 key id (32)  37 boot nonce (16)  53 epoch (8)  61 seq (8)  69 sent at (8)  77 payload  -64 signature
//
// The first 37 octets keep their places in every major version, so that a node can tell whose message it cannot read.
const (
	magic        = "GS"
	headerSize   = 77
	offKeyID     = 5
	offBootNonce = 37
	offEpoch     = 53
	offSeq       = 61
	offSentAt    = 69

	// Overhead is how many octets a sealed message has more than its payload.
	Overhead = headerSize + ed25519.SignatureSize
)

// ErrEnvelope is returned for what is not a sealed message at all.
var ErrEnvelope = errors.New("not a sealed message")

// Seal signs e with id's key for one direction and returns the message that goes over the network.
func (id *Identity) Seal(dir Direction, e Envelope) []byte {
	b := make([]byte, 0, Overhead+len(e.Payload))
	b = append(b, magic...)
	b = append(b, e.Major, e.Minor, e.Type)
	b = append(b, id.KeyID[:]...)
	b = append(b, e.BootNonce[:]...)
	b = binary.BigEndian.AppendUint64(b, e.Epoch)
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	b = binary.BigEndian.AppendUint64(b, uint64(e.SentAtMillis))
	b = append(b, e.Payload...)
	signature, err := id.key.Sign(nil, b, &ed25519.Options{Hash: crypto.Hash(0), Context: dir.context()})
	if err != nil {
		panic("identity: signing: " + err.Error()) // only for options that do not exist
	}
	return append(b, signature...)
}

// Sealed is a message as it came, taken apart but not believed: everything in it is the sender's word until Verify holds.
type Sealed struct {
	Envelope
	signed    []byte
	signature []byte
}

// Parse takes a sealed message apart without copying: b must not change while the result is in use. It looks at the form
// only. Of another major version than 1, everything behind the key id is left at zero, for nobody here knows what it means.
func Parse(b []byte) (Sealed, error) {
	if len(b) < Overhead || string(b[:len(magic)]) != magic {
		return Sealed{}, fmt.Errorf("%w: %d octets", ErrEnvelope, len(b))
	}
	s := Sealed{Envelope: Envelope{Major: b[2], Minor: b[3], Type: b[4], KeyID: KeyID(b[offKeyID:offBootNonce])}}
	if s.Major != envelopeMajor {
		return s, nil
	}
	end := len(b) - ed25519.SignatureSize
	s.BootNonce = Nonce(b[offBootNonce:offEpoch])
	s.Epoch = binary.BigEndian.Uint64(b[offEpoch:])
	s.Seq = binary.BigEndian.Uint64(b[offSeq:])
	s.SentAtMillis = int64(binary.BigEndian.Uint64(b[offSentAt:]))
	s.Payload, s.signed, s.signature = b[headerSize:end:end], b[:end], b[end:]
	return s, nil
}

// envelopeMajor is the major protocol version whose layout stands above.
const envelopeMajor = 1

// Verify reports whether the holder of pub's private key sealed this message for this direction.
func (s *Sealed) Verify(dir Direction, pub ed25519.PublicKey) bool {
	if len(pub) != ed25519.PublicKeySize || len(s.signature) != ed25519.SignatureSize {
		return false
	}
	return ed25519.VerifyWithOptions(pub, s.signed, s.signature, &ed25519.Options{Context: dir.context()}) == nil
}
