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

// Nonce is a random value of a process of an overwatch node. Messages to the node contain it, so that a later process
// rejects recorded messages.
type Nonce [16]byte

// NewNonce returns a random Nonce.
func NewNonce() (n Nonce) {
	rand.Read(n[:]) // never fails: crypto/rand ends the process rather than return weak octets
	return n
}

// Direction is the pair of sender and receiver kinds. A message that is sealed for a direction is invalid in the other.
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

// Envelope is the metadata and payload of a message, unsigned. Seal signs it; Parse and Verify open it.
type Envelope struct {
	Major, Minor uint8 // protocol version of the sender
	Type         uint8 // of the message: wire.Type
	KeyID        KeyID // of the sender's certificate; Seal fills it in
	BootNonce    Nonce // of the node process concerned: the receiver of AgentToNode, the sender of NodeToAgent
	Epoch        uint64
	Seq          uint64 // counts up within an epoch, from 1
	SentAtMillis int64  // Unix time at the sender, for diagnosis only
	Payload      []byte
}

// Layout of a sealed message, all numbers big-endian:
//
//	0 magic "GS"  2 major  3 minor  4 type  5 key id (32)  37 boot nonce (16)  53 epoch (8)  61 seq (8)
//	69 sent at (8)  77 payload  -64 signature
//
// A message of a Session has the magic "GM", and at its end a code of 32 octets instead of the signature.
//
// The first 37 octets have fixed positions in every major version, so that a node can identify the sender of a message
// of another version.
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

	// Overhead is the largest difference between the lengths of a sealed message and of its
	// payload, in octets. Messages of a Session are shorter.
	Overhead = headerSize + ed25519.SignatureSize
)

// ErrEnvelope means that the data is not a sealed message.
var ErrEnvelope = errors.New("not a sealed message")

// Seal signs e with the key of id for a direction and returns the message to send.
func (id *Identity) Seal(dir Direction, e Envelope) []byte {
	e.KeyID = id.KeyID
	b := e.append(make([]byte, 0, Overhead+len(e.Payload)), magic)
	signature, err := id.key.Sign(nil, b, &ed25519.Options{Hash: crypto.Hash(0), Context: dir.context()})
	if err != nil {
		panic("identity: signing: " + err.Error()) // occurs only for unknown options
	}
	return append(b, signature...)
}

// append appends the message without its signature or code to b.
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

// Sealed is a received message, parsed but not authenticated. Its content is untrusted until Verify or Authentic
// returns true.
type Sealed struct {
	Envelope
	signed    []byte
	signature []byte // nil of a Session's message
	code      []byte // nil of a signed message
}

// Parse parses a sealed message without copying: b must not change while the result is in use. It
// checks the form only. For a major version other than 1, fields after the key id stay zero,
// because their meaning is unknown.
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

// envelopeMajor is the major protocol version of the layout above.
const envelopeMajor = 1

// Verify reports whether the owner of the private key of pub signed this message for this direction.
func (s *Sealed) Verify(dir Direction, pub ed25519.PublicKey) bool {
	if len(pub) != ed25519.PublicKeySize || len(s.signature) != ed25519.SignatureSize {
		return false
	}
	return ed25519.VerifyWithOptions(pub, s.signed, s.signature, &ed25519.Options{Context: dir.context()}) == nil
}
