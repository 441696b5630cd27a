package trust

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

const (
	// SilentFor is the lifetime of a pin without a report of the agent.
	SilentFor = 10 * time.Minute
	// sweepEvery is the interval of sweepPins.
	sweepEvery = 15 * time.Second
	// sweepBatch is the maximum number of pins per write. A write locks the agents of its pins.
	sweepBatch = 512
)

// DeleteSilentPins deletes the pins of agents that do not report within SilentFor, until ctx ends. It retries after an
// error of the store. It calls gone with the ids of the unpinned agents, so that the caller withdraws their restored
// reports.
func (t *Trust) DeleteSilentPins(ctx context.Context, gone func(agentIDs []string)) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			_, now := t.clock.readTime()
			if err := t.sweepPins(now, gone); err != nil {
				if left, ok := t.lines.allowLine("sweep", now); ok {
					t.log.Error().Err(err).Int("left_out",
						left).Msg("deleting pins of agents that never reported failed; the node retries")
				}
			}
		}
	}
}

// sweepPins stores which agents have reported since their pin, deletes expired pins, and calls tell with the ids of
// their agents.
func (t *Trust) sweepPins(now time.Duration, tell func(agentIDs []string)) error {
	for {
		reported := t.selectAgents(sweepBatch, func(p *pinned) bool {
			return !p.isUnreported.Load() &&
				p.storedPin().Unreported
		})
		silent := t.selectAgents(sweepBatch, func(p *pinned) bool { return p.isExpired(now) })
		if len(reported)+len(silent) == 0 {
			return nil
		}
		if err := t.storeReported(reported); err != nil {
			return err
		}
		gone, err := t.deletePins(silent, func(p *pinned) bool { return p.isExpired(now) })
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			tell(gone)
			t.log.Warn().Int("pins", len(gone)).Strs("first", gone[:min(len(gone), 5)]).Stringer("after", SilentFor).
				Msg("pins of agents that never reported were deleted")
		}
	}
}

// isExpired reports whether the agent has not reported within SilentFor. A revoked pin never expires.
func (p *pinned) isExpired(now time.Duration) bool {
	return p.isUnreported.Load() && now-p.since >= SilentFor && !p.rights.Load().revoked
}

// selectAgents returns the sorted ids of at most n pinned agents for which fits returns true.
func (t *Trust) selectAgents(n int, fits func(*pinned) bool) (ids []string) {
	t.mu.RLock()
	for id, p := range t.byID {
		if len(ids) == n {
			break
		}
		if fits(p) {
			ids = append(ids, id)
		}
	}
	t.mu.RUnlock()
	slices.Sort(ids)
	return ids
}

func (t *Trust) storeReported(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	defer t.lockAgents(ids)()
	var pins []store.Pin
	var agents []*pinned
	for _, id := range ids {
		if p := t.findAgent(id); p != nil {
			pin := p.storedPin()
			pin.Unreported = false
			pins, agents = append(pins, pin), append(agents, p)
		}
	}
	if err := t.pins.ChangePins(store.PinChange{Put: pins}); err != nil {
		return fmt.Errorf("storing that agents have reported: %w", err)
	}
	for i, p := range agents {
		p.mu.Lock()
		p.pin = pins[i]
		p.mu.Unlock()
	}
	return nil
}

// deletePins deletes the pins among ids for which fits returns true, in a single write and only on this node. The
// agents can enroll with a valid token. The node still rejects their recorded messages.
func (t *Trust) deletePins(ids []string, fits func(*pinned) bool, with ...store.Entry) (gone []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	defer t.lockAgents(ids)()
	var agents []*pinned
	for _, id := range ids {
		if p := t.findAgent(id); p != nil && fits(p) {
			agents, gone = append(agents, p), append(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	if err := t.pins.ChangePins(store.PinChange{Drop: gone, Alone: true}, with...); err != nil {
		return nil, fmt.Errorf("deleting %d pins: %w", len(gone), err)
	}
	t.mu.Lock()
	for _, p := range agents {
		t.removePin(p)
	}
	t.mu.Unlock()
	for _, id := range gone {
		t.answers.deleteLogged(id)
	}
	return gone, nil
}

// lockAgents is lockAgent for several agents. It locks in a fixed order, so that concurrent calls cannot deadlock.
func (t *Trust) lockAgents(ids []string) (unlock func()) {
	places := make([]int, len(ids))
	for i, id := range ids {
		places[i] = int(maphash.String(t.seed, id) % uint64(len(t.changing)))
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for _, at := range places {
		t.changing[at].Lock()
	}
	return func() {
		for _, at := range places {
			t.changing[at].Unlock()
		}
	}
}

// Selection selects pins of a service, without pins of revoked agents.
type Selection struct {
	Service       string
	NeverReported bool
	PinnedSince   time.Time // zero for any time
}

func (s Selection) matches(p *pinned) bool {
	pin := p.storedPin()
	return !pin.Revoked && (!s.NeverReported || p.isUnreported.Load()) && !pin.FirstSeen.Before(s.PinnedSince) &&
		slices.ContainsFunc(pin.Services, func(proved store.PinnedService) bool { return proved.Name == s.Service })
}

// Select returns the sorted ids of the selected agents.
func (t *Trust) Select(s Selection) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	ids := []string{}
	for id, p := range t.byID {
		if s.matches(p) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// UnpinSelected deletes the pins of the ids that s still selects, and returns these ids. After an error, no pin is
// deleted. Unlike after Unpin, the running agents can enroll with a valid token.
func (t *Trust) UnpinSelected(ctx context.Context, s Selection, ids []string, with ...store.Entry) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gone, err := t.deletePins(ids, s.matches, with...)
	if len(gone) > 0 {
		t.log.Info().Str("service", s.Service).Int("pins", len(gone)).Msg("pins deleted")
	}
	return gone, err
}
