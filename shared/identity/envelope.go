package identity

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
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
//	0 magic "GM"  the same                                                                                                   -32 code of a Session
//
// The first 37 octets keep their places in every major version, so that a node can tell whose message it cannot read.
const (
	magic        = "GS"
	macMagic     = "GM"
	macSize      = sha256.Size
	headerSize   = 77
	offKeyID     = 5
	offBootNonce = 37
	offEpoch     = 53
	offSeq       = 61
	offSentAt    = 69

	// Overhead is how many octets a sealed message has more than its payload, at most: those of a Session are shorter.
	Overhead = headerSize + ed25519.SignatureSize
)

// ErrEnvelope is returned for what is not a sealed message at all.
var ErrEnvelope = errors.New("not a sealed message")

// Seal signs e with id's key for one direction and returns the message that goes over the network.
func (id *Identity) Seal(dir Direction, e Envelope) []byte {
	e.KeyID = id.KeyID
	b := e.append(make([]byte, 0, Overhead+len(e.Payload)), magic)
	signature, err := id.key.Sign(nil, b, &ed25519.Options{Hash: crypto.Hash(0), Context: dir.context()})
	if err != nil {
		panic("identity: signing: " + err.Error()) // only for options that do not exist
	}
	return append(b, signature...)
}

// append appends everything of a message but its signature or code.
func (e *Envelope) append(b []byte, magic string) []byte {
	b = append(b, magic...)
	b = append(b, e.Major, e.Minor, e.Type)
	b = append(b, e.KeyID[:]...)
	b = append(b, e.BootNonce[:]...)
	b = binary.BigEndian.AppendUint64(b, e.Epoch)
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	b = binary.BigEndian.AppendUint64(b, uint64(e.SentAtMillis))
	return append(b, e.Payload...)
}

// Sealed is a message as it came, taken apart but not believed: everything in it is the sender's word until Verify or Authentic holds.
type Sealed struct {
	Envelope
	signed    []byte
	signature []byte // nil of a Session's message
	code      []byte // nil of a signed message
}

// Parse takes a sealed message apart without copying: b must not change while the result is in use. It looks at the form
// only. Of another major version than 1, everything behind the key id is left at zero, for nobody here knows what it means.
func Parse(b []byte) (Sealed, error) {
	tail := ed25519.SignatureSize
	inSession := len(b) >= len(macMagic) && string(b[:len(macMagic)]) == macMagic
	if inSession {
		tail = macSize
	}
	if len(b) < headerSize+tail || !inSession && string(b[:len(magic)]) != magic {
		return Sealed{}, fmt.Errorf("%w: %d octets", ErrEnvelope, len(b))
	}
	s := Sealed{Envelope: Envelope{Major: b[2], Minor: b[3], Type: b[4], KeyID: KeyID(b[offKeyID:offBootNonce])}}
	if s.Major != envelopeMajor {
		return s, nil
	}
	end := len(b) - tail
	s.BootNonce = Nonce(b[offBootNonce:offEpoch])
	s.Epoch = binary.BigEndian.Uint64(b[offEpoch:])
	s.Seq = binary.BigEndian.Uint64(b[offSeq:])
	s.SentAtMillis = int64(binary.BigEndian.Uint64(b[offSentAt:]))
	s.Payload, s.signed = b[headerSize:end:end], b[:end]
	if inSession {
		s.code = b[end:]
	} else {
		s.signature = b[end:]
	}
	return s, nil
}

// envelopeMajor is the major protocol version whose layout stands above.
const envelopeMajor = 1

// Verify reports whether the holder of pub's private key signed this message for this direction.
func (s *Sealed) Verify(dir Direction, pub ed25519.PublicKey) bool {
	if len(pub) != ed25519.PublicKeySize || len(s.signature) != ed25519.SignatureSize {
		return false
	}
	return ed25519.VerifyWithOptions(pub, s.signed, s.signature, &ed25519.Options{Context: dir.context()}) == nil
}
