package keysync

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// Secret is the configured secret for the authentication of nodes to each other. The zero Secret is unusable.
type Secret struct {
	keys    [][]byte       // the first key authenticates this node; a peer may use any of them
	derived bool           // derived from the service tokens and the gossip key, which every agent has
	tokens  trust.TokenSet // tokens from which the secret is derived
	among   int            // number of distinct tokens
}

// SecretOf returns the secret of a configuration: key_sync.secret, or else a secret derived from the gossip key and all
// tokens.
func SecretOf(c *config.Config) Secret {
	if own := c.Overwatch.DNSSEC.KeySync.Secret.Reveal(); own != "" {
		return Secret{keys: [][]byte{peerauth.DeriveSecret([]byte(own), "configured")}}
	}
	s := Secret{derived: true}
	s.tokens, s.among = trust.TokenSetOf(c.Tokens())
	tokens := c.Overwatch.AgentTokens
	for _, key := range c.GossipKeys() {
		material := peerauth.AppendField(nil, key)
		for _, service := range slices.Sorted(maps.Keys(tokens)) {
			material = peerauth.AppendField(peerauth.AppendField(material, []byte(service)), []byte(tokens[service].Reveal()))
		}
		s.keys = append(s.keys, peerauth.DeriveSecret(material, "of the gossip key and all tokens"))
	}
	return s
}

// The reasons for an unusable secret. Their sentences name the required setting.
var (
	errOneToken = errors.New(
		"overwatch.dnssec.key_sync.secret is not set, and the default secret, derived from the service tokens, " +
			"requires at least two different tokens: set it on all nodes")
	errNoSecret = errors.New(
		"overwatch.dnssec.key_sync.secret is not set, and there is no gossip key to derive it from: set it on all nodes")
)

// Usable returns nil for a usable secret. Otherwise it returns the reason, such as an agent that can compute the
// secret.
func (s Secret) Usable(h *Holders) error {
	switch {
	case len(s.keys) == 0:
		return errNoSecret
	case !s.derived:
		return nil
	case s.among < 2:
		return errOneToken
	}
	switch agent, err := h.holderOf(s.tokens); {
	case err != nil:
		return fmt.Errorf(
			"overwatch.dnssec.key_sync.secret is not set, and it is unknown whether an agent can derive the default secret: "+
				"set it on all nodes (%w)", err)
	case agent != "":
		return fmt.Errorf(
			"overwatch.dnssec.key_sync.secret is not set, and agent %s has proved all services, so it can derive the "+
				"default secret: set it on all nodes", agent)
	}
	return nil
}

// Keys returns the keys derived from the secret, or the error of Usable.
func (s Secret) Keys(h *Holders) ([][]byte, error) {
	if err := s.Usable(h); err != nil {
		return nil, err
	}
	return s.keys, nil
}

// secret returns the keys of the current secret, or the reason why keys are not exchanged.
func (s *Sync) secret() ([][]byte, error) { return s.settings.Get().Secret.Keys(s.o.Holders) }

// Off returns the reason why the node exchanges no keys with the configured peers. It returns nil if the exchange works
// or there are no peers.
func (s *Sync) Off() error {
	settings := s.settings.Get()
	if len(settings.Peers) == 0 {
		return nil
	}
	return settings.Secret.Usable(s.o.Holders)
}

// Apart reports whether nodes may use different signing keys: keys are not exchanged, and this node created a key while
// the peers were unreachable.
func (s *Sync) Apart() bool { return s.Off() != nil && s.o.Zones.MadeApart() }

// checkExchange reports to package dnssec whether keys can be exchanged, and logs a change.
func (s *Sync) checkExchange() {
	settings := s.settings.Get()
	off := settings.Secret.Usable(s.o.Holders)
	switch {
	case len(settings.Peers) == 0:
		s.o.Zones.SetPeers(dnssec.NoPeers)
	case off != nil:
		s.o.Zones.SetPeers(dnssec.PeersApart)
	default:
		s.o.Zones.SetPeers(dnssec.PeersAsked)
	}
	if s.settings.SetProblem(off) {
		s.logExchange(off, len(settings.Peers))
	}
}

// logExchange logs that the key exchange has stopped or resumed.
func (s *Sync) logExchange(off error, peers int) {
	switch {
	case off == nil:
		s.o.Logger.Info().Msg("the exchange of signing keys with the other nodes has resumed")
	case peers == 0:
		s.o.Logger.Info().Str("reason", off.Error()).Msg("signing keys are sent to no other node")
		return
	default:
		s.o.Logger.Error().Str("reason", off.Error()).Msg("signing keys are not exchanged with the other nodes")
	}
	failed := s.o.Audit(audit.Change{
		Action: "sync", Resource: "dnssec", ResourceID: s.o.NodeID, Actor: "key sync", ActorType: api.ActorSystem,
		After: map[string]bool{"exchanging": off == nil}, Err: off,
	})
	if failed != nil {
		s.o.Logger.Error().Err(failed).Msg("audit log: writing a change of the key exchange failed")
	}
}
