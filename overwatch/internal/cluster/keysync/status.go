package keysync

import (
	"time"

	"gslb.internal/shared/api"
)

// status is the result of all rounds.
type status struct {
	success time.Time // time of the last round in which all peers answered
	failure error     // of the last round
	next    time.Time // zero: no round is scheduled
	peers   map[string]peerStatus
}

// peerStatus is the result of all exchanges with a peer.
type peerStatus struct {
	node             string // id of the last authentication
	attempt, success time.Time
	about            About
	told             time.Time // time of about
	imported         int       // number of imported keys since the start
	ignored          int       // number of keys of zones that this node does not serve
	err              error
}

// recordOutcomes records the outcomes of a round. It logs the first failure of a peer, and each new reason of failure.
func (s *Sync) recordOutcomes(outcomes []outcome) {
	now := s.o.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	peers := make(map[string]peerStatus, len(outcomes))
	for _, o := range outcomes {
		p := s.status.peers[o.peer]
		before := p.err
		p.attempt, p.err, p.ignored = now, o.err, o.offer.Ignored
		p.imported += o.imported
		if o.node != "" {
			p.node, p.about, p.told = o.node, o.about, now
		}
		if o.err == nil {
			p.success = now
		}
		peers[o.peer] = p
		switch {
		case s.settings.HasProblem(): // which checkExchange has logged
		case o.err != nil && (before == nil || before.Error() != o.err.Error()):
			s.o.Logger.Warn().Str("peer", o.peer).Str("reason",
				o.err.Error()).Msg("key synchronisation: a peer failed; its keys were not merged")
		case o.err == nil && before != nil:
			s.o.Logger.Info().Str("peer", o.peer).Msg("key synchronisation: a peer has recovered")
		}
	}
	s.status.peers, s.status.failure = peers, failure(outcomes)
	if s.status.failure == nil && len(outcomes) > 0 {
		s.status.success = now
	}
}

// setNextRound records the time until the next round. 0 means that no round is scheduled.
func (s *Sync) setNextRound(in time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.next = time.Time{}
	if in > 0 {
		s.status.next = s.o.Now().Add(in)
	}
}

// Status returns the state of the exchange.
func (s *Sync) Status() api.DNSSECSyncState {
	settings := s.settings.Get()
	s.mu.Lock()
	defer s.mu.Unlock()
	state := api.DNSSECSyncState{
		Enabled: len(settings.Peers) > 0, PeerCount: len(settings.Peers), LastSync: api.MomentOrNull(s.status.success),
		NextSync:      api.MomentOrNull(s.status.next),
		LastSyncError: errorText(s.status.failure), OffReason: errorText(settings.Secret.Usable(s.o.Holders)),
		Peers: []api.DNSSECPeer{},
	}
	for _, peer := range settings.Peers {
		p := s.status.peers[peer]
		state.Peers = append(state.Peers, api.DNSSECPeer{
			Peer: peer, NodeID: p.node, OK: p.err == nil && !p.success.IsZero(), LastAttempt: api.MomentOrNull(p.attempt),
			LastSuccess: api.MomentOrNull(p.success),
			Imported:    p.imported, Ignored: p.ignored, Error: errorText(p.err),
		})
	}
	return state
}
