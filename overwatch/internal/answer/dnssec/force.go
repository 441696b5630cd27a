package dnssec

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// ForceRoll continues the rollover or signing transition of a zone without the peers that do not answer. It returns
// these peers in without, each with the reason. Answering peers and the parent are still required. With preview it
// changes nothing. It returns ErrNoRoll without a rollover or transition, and an error if no peer blocks the next
// stage.
func (z *Zones) ForceRoll(apex string, preview bool) (state RollState, without []roll.Peer, err error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	rec := z.keyring.recordOf(apex)
	p, seen, keep, stateOf := rec.Roll, z.observations[apex], z.storeRoll, z.rollState
	if z.isTransitionLatest(apex) {
		p, seen, keep, stateOf = rec.Transition, z.transitionObservations[apex], z.storeTransition, z.transitionState
	}
	switch {
	case !z.served(apex) || !p.UnderWay():
		return RollState{}, nil, ErrNoRoll
	case seen.at.IsZero():
		return RollState{}, nil, errors.New("the other nodes have not been queried yet: retry in a minute")
	}
	next := *p
	next.Without = nil
	for _, peer := range seen.peers {
		if peer.Why != "" {
			without, next.Without = append(without, peer), append(next.Without, peer.Name)
		}
	}
	switch {
	case len(without) == 0 && seen.wait.For == "":
		return RollState{}, nil, errors.New("no unreachable node blocks it")
	case len(without) == 0:
		return RollState{}, nil, fmt.Errorf("no unreachable node blocks it: it waits for: %s", seen.wait.For)
	case preview:
		return stateOf(apex), without, nil
	}
	if err := keep(apex, &next); err != nil {
		return RollState{}, nil, err
	}
	return stateOf(apex), without, nil
}
