package frame

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

const (
	// KeySize is the length of a gossip key in octets: AES-256.
	KeySize = 32

	labelMarker     = 244 // first octet of a label header
	encryptMarker   = 10  // first octet of an encrypted stream
	cipherVersion   = 1   // AES-GCM without padding; version 0 pads, and removing its padding can panic in memberlist
	nonceSize       = 12
	tagSize         = 16
	cipherOverhead  = 1 + nonceSize + tagSize
	lengthFieldSize = 4
	maxLabel        = 255
)

// Keyring decrypts packets and streams with its label and its keys. It is immutable.
type Keyring struct {
	label []byte
	lead  []byte // the label header in its wire form
	aeads []cipher.AEAD
}

// NewKeyring returns a Keyring with a label and at least one key of KeySize octets. It tries the keys in order.
func NewKeyring(label string, keys [][]byte) (*Keyring, error) {
	if label == "" || len(label) > maxLabel {
		return nil, fmt.Errorf("gossip label %q must have 1 to %d octets", label, maxLabel)
	}
	if len(keys) == 0 {
		return nil, errors.New("no gossip key given")
	}
	k := &Keyring{label: []byte(label), lead: append([]byte{labelMarker, byte(len(label))}, label...)}
	for i, key := range keys {
		if len(key) != KeySize {
			return nil, fmt.Errorf("gossip key %d has %d octets, must have %d", i+1, len(key), KeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("gossip key %d: %w", i+1, err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("gossip key %d: %w", i+1, err)
		}
		k.aeads = append(k.aeads, aead)
	}
	return k, nil
}

// open decrypts version, nonce, ciphertext and tag, and appends the plain text to dst.
func (k *Keyring) open(dst, sealed, authenticated []byte) ([]byte, bool) {
	for _, aead := range k.aeads {
		if plain, err := aead.Open(dst, nil, sealed[1:], authenticated); err == nil {
			return plain, true
		}
	}
	return nil, false
}
