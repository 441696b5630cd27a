package keysync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// outcome is the result of an exchange with a peer.
type outcome struct {
	peer     string
	node     string // authenticated id of the peer; empty if it failed to authenticate
	self     bool   // the peer is this node
	offer    dnssec.Offer
	about    About
	imported int
	err      error
}

// round requests the keys of all peers, merges them, starts due rollovers and takes the next steps of rollovers. If the
// keys or a rollover change, round calls apply to update the answers. unsettled reports that the next round should
// follow soon.
func (s *Sync) round(ctx context.Context, apply func(context.Context) error) (outcomes []outcome, unsettled bool) {
	settings := s.settings.Get()
	began := s.o.Now()
	keys, off := settings.Secret.Keys(s.o.Holders)
	var merged dnssec.Merged
	var err error
	if off != nil {
		for _, peer := range settings.Peers {
			outcomes = append(outcomes, outcome{peer: peer, err: off})
		}
		merged, err = s.o.Zones.Merge(nil, dnssec.Complete) // without waiting for peers
	} else {
		outcomes = s.askAll(ctx, &settings, keys[0])
		merged, err = s.joinKeys(outcomes)
	}
	old, first := s.rollOld(outcomes)
	stepped, second := s.stepRolls(ctx, outcomes, off)
	stepped, err = stepped || old, errors.Join(err, first, second)
	if merged.Altered || stepped {
		err = errors.Join(err, apply(ctx))
	}
	for i := range outcomes {
		if err != nil && outcomes[i].err == nil {
			outcomes[i].err = err // its keys are not applied
		}
	}
	s.logChanges(merged, err, s.o.Now().Sub(began))
	return outcomes, merged.Unsettled
}

// provisionalPatience is the maximum waiting time of a round for a slow peer while a key is provisional, which permits
// several rounds during this time. The exchange continues, and a later round uses its result.
const provisionalPatience = 6500 * time.Millisecond

// errSlow is the outcome of an exchange that had not ended at the end of the round.
var errSlow = errors.New("no complete answer yet; it is still waited for")

// pending is a running or ended exchange with a peer.
type pending struct {
	cancel  context.CancelFunc
	done    chan struct{}
	outcome outcome // valid when done is closed
}

// askAll starts an exchange with each peer without a running exchange, and waits for all of them. While a key is
// provisional, it waits at most provisionalPatience.
func (s *Sync) askAll(ctx context.Context, settings *Settings, secret []byte) []outcome {
	outcomes := make([]outcome, len(settings.Peers))
	client, err := s.newHTTPClient(settings.TLS)
	if err != nil {
		for i, peer := range settings.Peers {
			outcomes[i] = outcome{peer: peer, err: err}
		}
		return outcomes
	}
	for _, peer := range settings.Peers {
		if s.pendings[peer] == nil {
			s.pendings[peer] = s.beginExchange(ctx, s.newClient(peer, secret, client), settings.Timeout)
		}
	}
	patience, end := ctx, func() {}
	if s.o.Zones.Provisional() {
		patience, end = context.WithTimeout(ctx, provisionalPatience)
	}
	defer end()
	for i, peer := range settings.Peers {
		f := s.pendings[peer]
		select {
		case <-f.done:
		case <-patience.Done():
			if ctx.Err() == nil {
				outcomes[i] = outcome{peer: peer, err: errSlow}
				continue
			}
			<-f.done // with ctx
		}
		outcomes[i] = f.outcome
	}
	for i := range outcomes {
		peer := outcomes[i].peer
		if f := s.pendings[peer]; f != nil && !errors.Is(outcomes[i].err, errSlow) {
			f.cancel()
			delete(s.pendings, peer)
			s.asked[peer] = true
		}
	}
	return outcomes
}

// cancelAll cancels the running exchanges, because their results would be outdated.
func (s *Sync) cancelAll() {
	for peer, f := range s.pendings {
		f.cancel()
		<-f.done
		delete(s.pendings, peer)
	}
}

// response returns how completely the peers have answered.
func (s *Sync) response(outcomes []outcome) dnssec.Response {
	response := dnssec.Complete
	for _, o := range outcomes {
		switch {
		case errors.Is(o.err, errSlow) && !s.asked[o.peer]:
			return dnssec.Awaited
		case o.err != nil:
			response = dnssec.Partial
		}
	}
	return response
}

// beginExchange starts an exchange.
func (s *Sync) beginExchange(ctx context.Context, client *peerauth.Client, timeout time.Duration) *pending {
	ctx, cancel := context.WithCancel(ctx)
	f := &pending{cancel: cancel, done: make(chan struct{}), outcome: outcome{peer: client.Peer}}
	go func() {
		defer close(f.done)
		o := &f.outcome
		m, err := requestKeys(ctx, client, timeout)
		if err != nil {
			o.err = err
			return
		}
		o.node, o.about, o.self = m.Node, m.About, m.Instance == s.instance
		if !o.self {
			o.offer, o.err = s.o.Zones.Check(m.Holding)
		}
	}()
	return f
}

// joinKeys merges the offers of the peers into the keys of this node.
func (s *Sync) joinKeys(outcomes []outcome) (dnssec.Merged, error) {
	var offers []dnssec.Offer
	var from []*outcome
	response := s.response(outcomes)
	for i := range outcomes {
		if o := &outcomes[i]; o.err == nil && !o.self {
			offers, from = append(offers, o.offer), append(from, o)
		}
	}
	merged, err := s.o.Zones.Merge(offers, response)
	for i, o := range from {
		o.imported, o.err = merged.Imported[i], merged.Refused[i]
	}
	return merged, err
}

// logChanges logs the changes of a round.
func (s *Sync) logChanges(m dnssec.Merged, err error, took time.Duration) {
	if err != nil {
		s.o.Logger.Error().Err(err).Msg("applying the keys of other nodes failed")
	}
	if len(m.Taken)+len(m.Dropped) == 0 {
		return
	}
	s.o.Logger.Warn().Strs("imported", m.Taken).Strs("dropped",
		m.Dropped).Msg("the signing keys of the other nodes were merged")
	failed := s.o.Audit(audit.Change{
		Action: "sync", Resource: "dnssec", ResourceID: s.o.NodeID, Actor: "key sync", ActorType: api.ActorSystem,
		After: map[string][]string{"imported": m.Taken, "dropped": m.Dropped}, Err: err, Duration: took,
	})
	if failed != nil {
		s.o.Logger.Error().Err(failed).Msg("audit log: writing a change of keys failed")
	}
}

// failure returns the joined errors of all failed peers, or nil.
func failure(outcomes []outcome) error {
	var reasons []string
	for _, o := range outcomes {
		if o.err != nil {
			reasons = append(reasons, fmt.Sprintf("%s: %v", o.peer, o.err))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return errors.New(strings.Join(reasons, "; "))
}
