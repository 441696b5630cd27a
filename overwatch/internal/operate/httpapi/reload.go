package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// reloadTimeout bounds a reload, which takes seconds with 100 000 names. It is below answerTimeout.
const reloadTimeout = answerTimeout - 10*time.Second

// postReload answers POST /config/reload.
func (s *Server) postReload(c *call) (answer, error) {
	var done api.Reload
	ch := &operations.Change{Action: "reload", Resource: "config", ID: s.o.NodeID}
	err := s.op.Commit(c.request(), ch, func(ctx context.Context, _ store.Entry) (err error) {
		reloading, stop := context.WithTimeout(context.WithoutCancel(ctx), reloadTimeout)
		defer stop()
		done.Changes, done.RestartRequired, err = s.o.Reload(reloading)
		ch.After = done.Changes
		return err
	})
	if err != nil {
		return answer{}, err
	}
	done.Reloaded = true
	if done.Changes == nil {
		done.Changes = []string{}
	}
	if done.RestartRequired == nil {
		done.RestartRequired = []string{}
	}
	return ok(done), nil
}

// gossipKeySize is the size of an AES-256 key, in bytes.
const gossipKeySize = 32

// postGossipKey answers POST /gossip/generate-key. The key is in the answer and nowhere else.
func (s *Server) postGossipKey(c *call) (answer, error) {
	key := make([]byte, gossipKeySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return ok(api.GossipKey{Key: base64.StdEncoding.EncodeToString(key), Algorithm: "AES-256-GCM",
		Bits: 8 * gossipKeySize}), nil
}
