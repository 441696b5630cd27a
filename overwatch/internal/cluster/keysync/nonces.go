package keysync

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

// The life of a nonce, and a bound on the used ones that are remembered meanwhile. Only a node with the secret can use
// one.
const (
	nonceLife = time.Minute
	maxUsed   = 4096
	// maxUsedPeers is the bound for a Door, where nodes hold requests open and ask again at every change.
	maxUsedPeers = 1 << 16
)

// Offsets in a nonce, in bytes.
const (
	nonceRandom = 16
	nonceMarked = nonceRandom + 8
	// nonceSize is the size of a nonce in bytes: random bytes, the time of issue, and the mark of this process.
	nonceSize = nonceMarked + sha256.Size
)

// nonces makes nonces that carry their own proof, so that requests of strangers take no memory.
type nonces struct {
	began time.Time // with its monotonic reading: the wall clock may be set
	key   [32]byte  // of this process
	most  int       // nonces that are remembered

	mu   sync.Mutex
	used map[[nonceRandom]byte]time.Duration // end of the time for which it is remembered, since began
}

func newNonces(most int) *nonces {
	n := &nonces{began: time.Now(), most: most, used: make(map[[nonceRandom]byte]time.Duration)}
	_, _ = rand.Read(n.key[:]) // never fails (crypto/rand)
	return n
}

func (n *nonces) issue() []byte {
	nonce := make([]byte, nonceRandom, nonceSize)
	_, _ = rand.Read(nonce)
	nonce = binary.BigEndian.AppendUint64(nonce, uint64(time.Since(n.began)))
	return append(nonce, n.mark(nonce)...)
}

func (n *nonces) mark(of []byte) []byte {
	mac := hmac.New(sha256.New, n.key[:])
	mac.Write(of)
	return mac.Sum(nil)
}

var (
	errNonceForeign = errors.New("the nonce is not one of this process: ask for another")
	errNonceOld     = errors.New("the nonce is too old: ask for another")
	errNonceUsed    = errors.New("the nonce was used before: this is a repeated request")
	errNonceFull    = errors.New("too many requests of other nodes in a minute")
)

// check returns an error unless this process has issued the nonce within nonceLife.
func (n *nonces) check(nonce []byte) error {
	if len(nonce) != nonceSize || !hmac.Equal(n.mark(nonce[:nonceMarked]), nonce[nonceMarked:]) {
		return errNonceForeign
	}
	made := time.Duration(binary.BigEndian.Uint64(nonce[nonceRandom:]))
	if time.Since(n.began) > made+nonceLife {
		return errNonceOld
	}
	return nil
}

// use marks a checked nonce as used. It returns an error for one that was used before.
func (n *nonces) use(nonce []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Since(n.began)
	for id, until := range n.used {
		if now > until {
			delete(n.used, id)
		}
	}
	id := [nonceRandom]byte(nonce)
	if _, again := n.used[id]; again {
		return errNonceUsed
	}
	if len(n.used) >= n.most {
		return errNonceFull
	}
	n.used[id] = now + nonceLife + time.Second // longer than check lets it pass
	return nil
}
