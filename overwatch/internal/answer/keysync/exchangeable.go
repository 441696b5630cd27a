package keysync

import (
	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// secret returns the keys of the present secret, or the reason why keys are neither asked for nor given.
func (s *Sync) secret() ([][]byte, error) { return s.current().Secret.Keys(s.o.Holders) }

// Off returns the reason why keys are not exchanged with the configured peers; nil if they are, or there are no
// peers.
func (s *Sync) Off() error {
	settings := s.current()
	if len(settings.Peers) == 0 {
		return nil
	}
	return settings.Secret.Usable(s.o.Holders)
}

// Apart reports whether nodes may sign differently: keys are not exchanged, and a key was made here without asking
// the peers.
func (s *Sync) Apart() bool { return s.Off() != nil && s.o.Zones.MadeApart() }

// checkExchange tells dnssec whether keys can be exchanged, and logs a change of that.
func (s *Sync) checkExchange() {
	settings := s.current()
	off := settings.Secret.Usable(s.o.Holders)
	switch {
	case len(settings.Peers) == 0:
		s.o.Zones.SetPeers(dnssec.NoPeers)
	case off != nil:
		s.o.Zones.SetPeers(dnssec.PeersApart)
	default:
		s.o.Zones.SetPeers(dnssec.PeersAsked)
	}
	now := ""
	if off != nil {
		now = off.Error()
	}
	s.mu.Lock()
	before := s.off
	s.off = now
	s.mu.Unlock()
	if now != before {
		s.logExchange(off, len(settings.Peers))
	}
}

// logExchange logs that keys are no longer exchanged, or are again.
func (s *Sync) logExchange(off error, peers int) {
	switch {
	case off == nil:
		s.o.Logger.Info().Msg("signing keys are exchanged with the other nodes again")
	case peers == 0:
		s.o.Logger.Info().Str("reason", off.Error()).Msg("signing keys are given to no other node")
		return
	default:
		s.o.Logger.Error().Str("reason", off.Error()).Msg("signing keys are not exchanged with the other nodes")
	}
	failed := s.o.Audit(audit.Change{
		Action: "sync", Resource: "dnssec", ResourceID: s.o.NodeID, Actor: "key sync", ActorType: api.ActorSystem,
		After: map[string]bool{"exchanging": off == nil}, Err: off,
	})
	if failed != nil {
		s.o.Logger.Error().Err(failed).Msg("that the exchange of keys changed is not in the audit log")
	}
}
