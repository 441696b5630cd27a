package agent

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/wire"
)

// Cipher encrypts memberlist's packets and streams with the gossip key of a cluster, and decrypts the messages of the
// node.
type Cipher struct {
	aead    cipher.AEAD
	keyring *frame.Keyring
}

// NewCipher accepts the gossip key in the format of the configuration: 32 bytes in base64.
func NewCipher(gossipKey string) (*Cipher, error) {
	key, err := base64.StdEncoding.DecodeString(gossipKey)
	if err != nil {
		return nil, fmt.Errorf("reading the gossip key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("using the gossip key: %w", err)
	}
	c := &Cipher{}
	if c.aead, err = cipher.NewGCM(block); err != nil {
		return nil, fmt.Errorf("using the gossip key: %w", err)
	}
	c.keyring, err = frame.NewKeyring(wire.Label, [][]byte{key})
	return c, err
}

// label returns memberlist's label header, which begins every packet and stream.
func label() []byte {
	return append([]byte{244, byte(len(wire.Label))}, wire.Label...)
}

func (c *Cipher) seal(dst, plain, authenticated []byte) []byte {
	nonce := make([]byte, c.aead.NonceSize())
	rand.Read(nonce)
	dst = append(append(dst, 1), nonce...)
	return c.aead.Seal(dst, nonce, plain, authenticated)
}

// Packet encodes a memberlist message as a datagram.
func (c *Cipher) Packet(plain []byte) []byte {
	return c.seal(label(), plain, []byte(wire.Label))
}

// Stream encodes a memberlist message as the octets for a connection.
func (c *Cipher) Stream(plain []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{10}, uint32(1+c.aead.NonceSize()+len(plain)+c.aead.Overhead()))
	return c.seal(append(label(), head...), plain, append(bytes.Clone(head), wire.Label...))
}
