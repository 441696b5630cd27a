package keysync

import (
	"encoding/json"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/cluster/peerauth"
)

// path is the path of the keys in the API.
const path = "/api/v1/dnssec/keys"

// maxAnswer is the maximum size of the body of an answer, in bytes. The encrypted part has at most maxSealed bytes, and
// a key about 500.
const (
	maxAnswer = 1 << 20
	maxSealed = maxAnswer - 1024
)

// Challenge returns the value of WWW-Authenticate for a peer that requests keys.
func (s *Sync) Challenge() string { return s.server.Challenge() }

// errWrongSecret reports a proof with another secret.
var errWrongSecret = errors.New(
	"the proof is not by the secret of this node: overwatch.dnssec.key_sync.secret must be the same on all nodes, " +
		"or where it is not set, the gossip key and all agent_tokens")

// errOff is the answer to peers while this node exchanges no keys. The client is not authenticated, so the error does
// not name the agent that caused it.
var errOff = errors.New(
	"this node exchanges no signing keys: overwatch.dnssec.key_sync.secret is not set there, and an agent could compute " +
		"what would take its place; set it on all nodes")

// Seal returns the encrypted keys for a request with the given header field Authorization. Clients may receive the
// error.
func (s *Sync) Seal(authorization string) (sealed string, err error) {
	outcome := s.metrics.refused
	defer func() { outcome.Inc() }()
	secrets, err := s.secret()
	if err != nil {
		return "", errOff
	}
	client, err := s.server.Authenticate(secrets, path, authorization)
	switch {
	case errors.Is(err, peerauth.ErrWrongSecret):
		return "", errWrongSecret
	case err != nil:
		return "", err
	}
	holding, err := s.o.Zones.Export()
	if err != nil {
		s.o.Logger.Error().Err(err).Msg("the signing keys cannot be given to a peer")
		return "", errors.New("this node cannot read its keys")
	}
	plain, err := json.Marshal(&message{Node: s.o.NodeID, Instance: s.instance, Holding: holding, About: s.about()})
	if err == nil {
		sealed, err = client.Seal(plain)
	}
	if err == nil && len(sealed) > maxSealed {
		err = fmt.Errorf("the %d keys of this node take %d bytes, an answer has at most %d", len(holding.Keys), len(sealed),
			maxSealed)
	}
	if err != nil {
		s.o.Logger.Error().Err(err).Str("peer", client.Node()).Msg("the signing keys cannot be given to a peer")
		return "", err
	}
	outcome = s.metrics.served
	s.o.Logger.Debug().Str("peer", client.Node()).Int("keys", len(holding.Keys)).
		Msg("a peer was given the signing keys, sealed")
	return sealed, nil
}
