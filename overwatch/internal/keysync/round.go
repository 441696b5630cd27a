package keysync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/audit"
	"gslb.internal/overwatch/internal/dnssec"
	"gslb.internal/shared/api"
)

// outcome is what came of asking one peer.
type outcome struct {
	peer     string
	node     string // as the peer proved it; empty if it did not
	self     bool   // the peer is this process
	offer    dnssec.Offer
	imported int
	err      error
}

// round asks all peers, joins what they have, and puts it into the answers with apply. unsettled says that the next one should
// follow soon.
func (s *Sync) round(ctx context.Context, apply func(context.Context) error) (outcomes []outcome, unsettled bool) {
	settings := s.current()
	began := s.o.Now()
	outcomes = s.askAll(ctx, &settings)
	merged, err := s.join(outcomes)
	if merged.Altered {
		err = errors.Join(err, apply(ctx))
	}
	for i := range outcomes {
		if err != nil && outcomes[i].err == nil {
			outcomes[i].err = err // what it offered is not in force
		}
	}
	s.tell(merged, err, s.o.Now().Sub(began))
	return outcomes, merged.Unsettled
}

func (s *Sync) askAll(ctx context.Context, settings *Settings) []outcome {
	outcomes := make([]outcome, len(settings.Peers))
	client, err := s.newClient(settings.TLS)
	e := exchanger{s.o.NodeID, settings, client}
	var all sync.WaitGroup
	for i, peer := range settings.Peers {
		o := &outcomes[i]
		o.peer = peer
		if err != nil {
			o.err = err
			continue
		}
		all.Go(func() {
			m, err := e.ask(ctx, peer)
			if err != nil {
				o.err = err
				return
			}
			o.node, o.self = m.Node, m.Instance == s.instance
			if !o.self {
				o.offer, o.err = s.o.Zones.Check(m.Holding)
			}
		})
	}
	all.Wait()
	return outcomes
}

// join has what the peers offer joined with what is here.
func (s *Sync) join(outcomes []outcome) (dnssec.Merged, error) {
	var offers []dnssec.Offer
	var from []*outcome
	complete := true
	for i := range outcomes {
		switch o := &outcomes[i]; {
		case o.err != nil:
			complete = false
		case !o.self:
			offers, from = append(offers, o.offer), append(from, o)
		}
	}
	merged, err := s.o.Zones.Merge(offers, complete)
	for i, o := range from {
		o.imported, o.err = merged.Imported[i], merged.Refused[i]
	}
	return merged, err
}

// tell writes down what a round has changed.
func (s *Sync) tell(m dnssec.Merged, err error, took time.Duration) {
	if err != nil {
		s.o.Logger.Error().Err(err).Msg("keys of other nodes could not be put into force")
	}
	if len(m.Taken)+len(m.Dropped) == 0 {
		return
	}
	s.o.Logger.Warn().Strs("imported", m.Taken).Strs("dropped", m.Dropped).Msg("the signing keys follow those of the other nodes")
	failed := s.o.Audit(audit.Change{
		Action: "sync", Resource: "dnssec", ResourceID: s.o.NodeID, Actor: "key sync", ActorType: api.ActorSystem,
		After: map[string][]string{"imported": m.Taken, "dropped": m.Dropped}, Err: err, Duration: took,
	})
	if failed != nil {
		s.o.Logger.Error().Err(failed).Msg("a change of keys is not in the audit log")
	}
}

// failure joins the reasons of all peers that failed; nil if none did.
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
