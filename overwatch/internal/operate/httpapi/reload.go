package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"gslb.internal/shared/api"
)

// reloadTimeout is the timeout of a reload, which takes seconds with 100 000 names. It is shorter than answerTimeout.
const reloadTimeout = answerTimeout - 10*time.Second

// postReload answers POST /config/reload.
func (s *Server) postReload(c *call) (answer, error) {
	reloading, stop := context.WithTimeout(context.WithoutCancel(c.Request.Context()), reloadTimeout)
	defer stop()
	changes, restart, err := s.op.Reload(c.request(), s.o.NodeID, func() (changes, restart []string, err error) {
		return s.o.Reload(reloading)
	})
	if err != nil {
		return answer{}, err
	}
	return ok(api.Reload{Reloaded: true, Changes: append([]string{}, changes...),
		RestartRequired: append([]string{}, restart...)}), nil
}

// gossipKeySize is the size of an AES-256 key, in bytes.
const gossipKeySize = 32

// postGossipKey answers POST /gossip/generate-key. The node does not store the key.
func (s *Server) postGossipKey(c *call) (answer, error) {
	key := make([]byte, gossipKeySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return ok(api.GossipKey{Key: base64.StdEncoding.EncodeToString(key), Algorithm: "AES-256-GCM",
		Bits: 8 * gossipKeySize}), nil
}
