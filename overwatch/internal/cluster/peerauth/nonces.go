package peerauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

// nonceLife is the time for which a nonce is valid.
const nonceLife = time.Minute

// Offsets in a nonce, in bytes.
const (
	nonceRandom = 16
	nonceMarked = nonceRandom + 8
	// nonceSize is the size of a nonce in bytes: random bytes, the time of issue, and an HMAC with the key of the process.
	nonceSize = nonceMarked + sha256.Size
)

// nonces issues and verifies nonces. A nonce contains an HMAC, so an issued nonce takes no memory until a node with the
// secret uses it. nonces is safe for concurrent use.
type nonces struct {
	began   time.Time // has a monotonic reading, which a change of the wall clock does not affect
	key     [32]byte  // of this process
	maxUsed int       // bound of used

	mu   sync.Mutex
	used map[[nonceRandom]byte]time.Duration // time at which the entry expires, since began
}

func newNonces(maxUsed int) *nonces {
	n := &nonces{began: time.Now(), maxUsed: maxUsed, used: make(map[[nonceRandom]byte]time.Duration)}
	_, _ = rand.Read(n.key[:]) // never fails (crypto/rand)
	return n
}

func (n *nonces) issue() []byte {
	nonce := make([]byte, nonceRandom, nonceSize)
	_, _ = rand.Read(nonce)
	nonce = binary.BigEndian.AppendUint64(nonce, uint64(time.Since(n.began)))
	return append(nonce, n.mac(nonce)...)
}

func (n *nonces) mac(text []byte) []byte {
	mac := hmac.New(sha256.New, n.key[:])
	mac.Write(text)
	return mac.Sum(nil)
}

var (
	errNonceForeign = errors.New("the nonce is not one of this process: ask for another")
	errNonceExpired = errors.New("the nonce is too old: ask for another")
	errNonceUsed    = errors.New("the nonce was used before: this is a repeated request")
	errNonceFull    = errors.New("too many requests of other nodes in a minute")
)

// verify returns an error unless this process has issued the nonce within nonceLife.
func (n *nonces) verify(nonce []byte) error {
	if len(nonce) != nonceSize || !hmac.Equal(n.mac(nonce[:nonceMarked]), nonce[nonceMarked:]) {
		return errNonceForeign
	}
	issued := time.Duration(binary.BigEndian.Uint64(nonce[nonceRandom:]))
	if time.Since(n.began) > issued+nonceLife {
		return errNonceExpired
	}
	return nil
}

// markUsed marks a verified nonce as used. It returns an error if the nonce was used before, or maxUsed nonces are
// stored.
func (n *nonces) markUsed(nonce []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Since(n.began)
	for id, expires := range n.used {
		if now > expires {
			delete(n.used, id)
		}
	}
	id := [nonceRandom]byte(nonce)
	if _, used := n.used[id]; used {
		return errNonceUsed
	}
	if len(n.used) >= n.maxUsed {
		return errNonceFull
	}
	n.used[id] = now + nonceLife + time.Second // verify rejects the nonce before this entry expires
	return nil
}
