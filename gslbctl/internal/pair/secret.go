package pair

import (
	"crypto/rand"
	"encoding/base64"
)

// gossipKeySize is the size of a gossip key in octets: AES-256.
const gossipKeySize = 32

// GossipKey returns a random gossip key in the form of encryption_key.
func GossipKey() string {
	key := make([]byte, gossipKeySize)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

// Token returns a random service token: 52 characters of 5 random bits each, which need no quotes
// anywhere. At least 32 characters are recommended.
func Token() string { return rand.Text() + rand.Text() }
