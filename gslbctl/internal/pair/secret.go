package pair

import (
	"crypto/rand"
	"encoding/base64"
)

// gossipKeySize is the size of a gossip key, in bytes: AES-256.
const gossipKeySize = 32

// GossipKey returns a fresh gossip key as encryption_key wants it.
func GossipKey() string {
	key := make([]byte, gossipKeySize)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

// Token returns a fresh service token: 52 characters, of 5 random bits each,
// that need no quotes anywhere. At least 32 are recommended.
func Token() string { return rand.Text() + rand.Text() }
