package keysync

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/shared/api"
)

// Times of the requests of a node without keys. After bootTime, the node creates new keys. If the peers refuse
// connections, they are starting or down, and the node waits only bootRefused.
const (
	bootTime    = 10 * time.Second
	bootRound   = bootTime / 3 // of a round: a silent peer must not delay the requests to other peers
	bootRefused = time.Second
	bootPause   = 500 * time.Millisecond
)

// firstRetry is the pause after a failed round. It doubles with each failure up to the poll interval.
const firstRetry = 10 * time.Second

// unsettledPause is the pause between rounds while a key is provisional.
const unsettledPause = 250 * time.Millisecond

// Bootstrap requests the keys of zones with missing or damaged keys from the peers. It returns when no key is missing,
// when all peers have answered, or after bootTime or bootRefused. The caller then creates the missing keys. If some
// zones have keys and no key is damaged, it returns immediately, so that the node answers queries for these zones; a
// new zone receives a provisional key.
func (s *Sync) Bootstrap(ctx context.Context) {
	if settings := s.settings.Get(); len(settings.Peers) == 0 || settings.Secret.Usable(s.o.Holders) != nil ||
		len(s.o.Zones.Missing()) == 0 || !s.o.Zones.NoKeys() && s.o.Zones.Damage() == nil {
		return
	}
	s.o.Logger.Info().Strs("zones", firstTen(s.o.Zones.Missing())).Strs("peers", s.settings.Get().Peers).
		Stringer("at_most", bootTime).
		Msg("waiting for the signing keys of the other nodes before DNS is answered; then new ones are made")
	began := time.Now()
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, min(bootRound, bootTime-time.Since(began)))
		outcomes, _ := s.round(bounded, func(context.Context) error { return nil }) // before the first view
		cancel()
		s.recordOutcomes(outcomes)
		patience := bootTime
		if !slices.ContainsFunc(outcomes, func(o outcome) bool {
			return o.err != nil && !errors.Is(o.err, peerauth.ErrNotListening)
		}) {
			patience = bootRefused
		}
		if len(s.o.Zones.Missing()) == 0 || failure(outcomes) == nil || time.Since(began)+bootPause > patience {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(bootPause):
		}
	}
}

// firstTen returns the beginning of a long list.
func firstTen(list []string) []string { return list[:min(len(list), 10)] }

// Run polls the peers immediately, at every poll interval, and after Sync or a new key, until ctx ends.
// It returns nil.
func (s *Sync) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failures := 0
	defer s.cancelAll()
	for {
		var ordered chan []outcome
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-s.settings.Changed():
			s.cancelAll()
		case <-s.o.Holders.changed:
			s.cancelAll()
			s.checkExchange()
		case <-s.o.Zones.KeyCreated():
			s.cancelAll()
			clear(s.asked)
		case o := <-s.orders:
			ordered = o.done
			s.cancelAll()
		}
		settings := s.settings.Get()
		outcomes, unsettled := s.round(ctx, s.o.Apply)
		stopping := ctx.Err() != nil // errors during the shutdown are not faults of the peers
		if !stopping {
			s.recordOutcomes(outcomes)
		}
		if ordered != nil {
			ordered <- outcomes
		}
		if stopping {
			return nil
		}
		if failures++; unsettled || failure(outcomes) == nil {
			failures = 0
		}
		timer.Stop()
		rolling := len(s.o.Zones.Rolling()) > 0
		if len(settings.Peers) == 0 && !rolling && settings.Roll.Every == 0 {
			s.setNextRound(0)
			continue
		}
		delay := pause(settings.PollInterval, failures)
		if rolling {
			delay = min(delay, stepPause(s.o.Zones.Rolls(), s.o.Now()))
		}
		if unsettled {
			delay = unsettledPause
		}
		s.setNextRound(delay)
		timer.Reset(delay)
	}
}

// pause returns the pause after a number of consecutive failed rounds, with 10 % jitter so that nodes do not poll
// synchronously.
func pause(interval time.Duration, failures int) time.Duration {
	d := interval
	if failures > 0 {
		d = min(interval, firstRetry<<min(failures-1, 20))
	}
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// Sync polls all peers now and returns the results, or the error of ctx. Run must be running.
func (s *Sync) Sync(ctx context.Context) (api.DNSSECSync, error) {
	o := order{make(chan []outcome, 1)}
	var outcomes []outcome
	select {
	case s.orders <- o:
	case <-ctx.Done():
		return api.DNSSECSync{}, context.Cause(ctx)
	}
	select {
	case outcomes = <-o.done:
	case <-ctx.Done():
		return api.DNSSECSync{}, context.Cause(ctx)
	}
	result := api.DNSSECSync{Synced: failure(outcomes) == nil, Peers: []api.DNSSECPeerSync{}}
	for _, o := range outcomes {
		result.Peers = append(result.Peers, api.DNSSECPeerSync{Peer: o.peer, OK: o.err == nil, Imported: o.imported,
			Error: errorText(o.err)})
	}
	return result, nil
}

// errorText returns an error as the API shows it.
func errorText(err error) *string {
	if err == nil {
		return nil
	}
	text := err.Error()
	return &text
}
