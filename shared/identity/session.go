package identity

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Share is the public half of an Exchange, an X25519 point (RFC 7748). The zero Share means no share.
type Share [32]byte

// Exchange is the half of a process in the agreement on session keys. Each process creates its own Exchange and never
// stores it. Any goroutine may use it.
type Exchange struct {
	key   *ecdh.PrivateKey
	share Share
}

// NewExchange returns a random Exchange.
func NewExchange() *Exchange {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic("identity: drawing a session key: " + err.Error()) // crypto/rand never fails
	}
	return &Exchange{key: key, share: Share(key.PublicKey().Bytes())}
}

// Share returns the public half for the other process. It is authentic only inside a message with a signature of its
// sender.
func (x *Exchange) Share() Share { return x.share }

// Pairing identifies a process of an agent and a process of a node, the two ends of a Session.
type Pairing struct {
	Agent, Node           KeyID
	Boot                  Nonce  // of the node's process
	Epoch                 uint64 // of the agent's process
	AgentShare, NodeShare Share
}

// Session authenticates messages between the two processes of a Pairing with a key that only they have, at 2 % of the
// cost of a signature. Each direction has its own key. A Session is immutable.
//
// For the two processes, a Session proves the same as a signature: its key is derived from the signed Hello with the
// share of the node, and the signed Enrol with the share of the agent. It proves nothing to third parties, and ends
// with either process.
type Session struct {
	pairing Pairing
	keys    [NodeToAgent + 1][sha256.Size]byte // by Direction
}

// Agree derives the Session of a pairing. One of the shares must belong to x. Agree fails for a share that is not a
// point or has low order, since its secret would be public.
func (x *Exchange) Agree(p Pairing) (*Session, error) {
	peer := p.NodeShare
	if x.share == p.NodeShare {
		peer = p.AgentShare
	}
	if p.AgentShare == p.NodeShare || x.share != p.AgentShare && x.share != p.NodeShare {
		return nil, errors.New("the shares are not those of two processes, this being one")
	}
	point, err := ecdh.X25519().NewPublicKey(peer[:])
	if err != nil {
		return nil, fmt.Errorf("the share is not an X25519 key: %w", err)
	}
	secret, err := x.key.ECDH(point)
	if err != nil {
		return nil, fmt.Errorf("the share is not usable: %w", err)
	}
	s := &Session{pairing: p}
	for _, dir := range []Direction{AgentToNode, NodeToAgent} {
		key, err := hkdf.Key(sha256.New, secret, p.Boot[:], p.info(dir), sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("deriving a session key: %w", err)
		}
		s.keys[dir] = [sha256.Size]byte(key)
	}
	return s, nil
}

// info returns the context of the key of a direction (RFC 5869, section 3.2): all values that the two sides must agree
// on. All parts except the first have fixed lengths.
func (p Pairing) info(dir Direction) string {
	b := []byte(dir.context() + ", session\x00")
	for _, part := range [][]byte{p.Agent[:], p.Node[:], p.Boot[:], p.AgentShare[:], p.NodeShare[:]} {
		b = append(b, part...)
	}
	return string(binary.BigEndian.AppendUint64(b, p.Epoch))
}

// Seal authenticates e for a direction and returns the sealed message. It replaces key id, boot nonce and epoch of e by
// the values of the pairing.
func (s *Session) Seal(dir Direction, e Envelope) []byte {
	e.KeyID, e.BootNonce, e.Epoch = s.pairing.sender(dir), s.pairing.Boot, s.pairing.Epoch
	b := e.append(make([]byte, 0, headerSize+len(e.Payload)+macSize), macMagic)
	return s.mac(b, dir, b)
}

func (p *Pairing) sender(dir Direction) KeyID {
	if dir == AgentToNode {
		return p.Agent
	}
	return p.Node
}

// mac appends the authentication code of message to dst.
func (s *Session) mac(dst []byte, dir Direction, message []byte) []byte {
	h := hmac.New(sha256.New, s.keys[dir][:])
	h.Write(message)
	return h.Sum(dst)
}

// InSession reports whether the message claims to be authenticated by a Session instead of a
// signature.
func (s *Sealed) InSession() bool { return s.code != nil }

// Authentic reports whether the other side of a session sealed this message for this direction. It
// returns false for a nil session.
func (s *Sealed) Authentic(dir Direction, by *Session) bool {
	if by == nil || len(s.code) != macSize {
		return false
	}
	if s.KeyID != by.pairing.sender(dir) || s.BootNonce != by.pairing.Boot || s.Epoch != by.pairing.Epoch {
		return false
	}
	var room [macSize]byte
	return hmac.Equal(by.mac(room[:0], dir, s.signed), s.code)
}
