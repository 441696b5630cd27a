package dnssec

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// ForceRoll lets the roll or the way of a zone go on to the next stage without the nodes of which nothing is heard. It
// returns them in without, each with what is known of it. Nodes that are heard are still waited for, and so is the
// parent. With preview it changes nothing.
func (z *Zones) ForceRoll(apex string, preview bool) (state RollState, without []roll.Peer, err error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	rec := z.keyring.recordOf(apex)
	p, seen, keep, stateOf := rec.Roll, z.looks[apex], z.keepRoll, z.rollState
	if z.wayFirst(apex) {
		p, seen, keep, stateOf = rec.Way, z.wayLooks[apex], z.keepWay, z.wayState
	}
	switch {
	case !z.served(apex) || !p.UnderWay():
		return RollState{}, nil, ErrNoRoll
	case seen.at.IsZero():
		return RollState{}, nil, errors.New("the other nodes have not been asked yet: try again in a minute")
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
		return RollState{}, nil, errors.New("no node that is not heard of holds it up")
	case len(without) == 0:
		return RollState{}, nil, fmt.Errorf("no node that is not heard of holds it up: it waits for this: %s", seen.wait.For)
	case preview:
		return stateOf(apex), without, nil
	}
	if err := keep(apex, &next); err != nil {
		return RollState{}, nil, err
	}
	return stateOf(apex), without, nil
}
