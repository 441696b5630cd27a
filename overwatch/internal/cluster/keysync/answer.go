package keysync

import (
	"crypto/hmac"
	"errors"
)

// Challenge returns the value of WWW-Authenticate for a peer that asks for keys.
func (s *Sync) Challenge() string { return challenge(s.nonces.issue()) }

// errSecret reports a proof by another secret.
var errSecret = errors.New(
	"the proof is not by the secret of this node: overwatch.dnssec.key_sync.secret must be the same on all nodes, " +
		"or where it is not set, the gossip key and all agent_tokens")

// errOff answers peers while this node exchanges no keys. It does not name the agent that is the reason, because the
// asker has not proved itself.
var errOff = errors.New(
	"this node exchanges no signing keys: overwatch.dnssec.key_sync.secret is not set there, and an agent could compute " +
		"what would take its place; set it on all nodes")

// Seal answers a request for keys by its value of Authorization. Its error may be shown to the asker.
func (s *Sync) Seal(authorization string) (sealed string, err error) {
	outcome := s.metrics.refused
	defer func() { outcome.Inc() }()
	r, proof, err := parseProof(authorization)
	if err != nil {
		return "", err
	}
	if err := s.nonces.check(r.nonce); err != nil {
		return "", err
	}
	keys, err := s.secret()
	if err != nil {
		return "", errOff
	}
	secret := provenBy(keys, &r, proof)
	if secret == nil {
		return "", errSecret
	}
	if err := s.nonces.use(r.nonce); err != nil {
		return "", err
	}
	holding, err := s.o.Zones.Export()
	if err != nil {
		s.o.Logger.Error().Err(err).Msg("the signing keys cannot be given to a peer")
		return "", errors.New("this node cannot read its keys")
	}
	if sealed, err = r.seal(secret, &message{Node: s.o.NodeID, Instance: s.instance, Holding: holding,
		About: s.about()}); err != nil {
		s.o.Logger.Error().Err(err).Str("peer", r.node).Msg("the signing keys cannot be given to a peer")
		return "", err
	}
	outcome = s.metrics.served
	s.o.Logger.Debug().Str("peer", r.node).Int("keys", len(holding.Keys)).Msg("a peer was given the signing keys, sealed")
	return sealed, nil
}

// provenBy returns the secret that proves a request, nil for none.
func provenBy(secrets [][]byte, r *request, proof []byte) []byte {
	for _, secret := range secrets {
		if hmac.Equal(r.mac(secret), proof) {
			return secret
		}
	}
	return nil
}
