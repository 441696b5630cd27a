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
	// SilentFor is the lifetime of a pin whose agent never reports.
	SilentFor = 10 * time.Minute
	// sweepEvery is the interval between two calls of sweep.
	sweepEvery = 15 * time.Second
	// sweepBatch bounds the pins changed in one write, with the locks held.
	sweepBatch = 512
)

// Tend deletes the pins of agents that do not report within SilentFor, until ctx ends. What could not be stored is
// tried again. gone is called, in this goroutine, with the ids of the agents whose pins were deleted: a node that has
// restarted may remember claims of theirs, which it must withdraw.
func (t *Trust) Tend(ctx context.Context, gone func(agentIDs []string)) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			_, now := t.clock.now()
			if err := t.sweep(now, gone); err != nil {
				if left, ok := t.lines.take("sweep", now); ok {
					t.log.Error().Err(err).Int("left_out", left).Msg("pins of agents that never reported stay for now")
				}
			}
		}
	}
}

// sweep stores which agents have reported since they were pinned, deletes the pins of those that did not in time, and
// calls tell with their ids.
func (t *Trust) sweep(now time.Duration, tell func(agentIDs []string)) error {
	for {
		reported := t.pick(sweepBatch, func(p *pinned) bool { return !p.silent.Load() && p.stored().Unreported })
		silent := t.pick(sweepBatch, func(p *pinned) bool { return p.expired(now) })
		if len(reported)+len(silent) == 0 {
			return nil
		}
		if err := t.noteReported(reported); err != nil {
			return err
		}
		gone, err := t.unpinMany(silent, func(p *pinned) bool { return p.expired(now) })
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			tell(gone)
			t.log.Warn().Int("pins", len(gone)).Strs("first", gone[:min(len(gone), 5)]).Stringer("after", SilentFor).
				Msg("pins deleted of agents that never reported")
		}
	}
}

// expired reports whether the agent has not reported within SilentFor. A revoked pin never expires.
func (p *pinned) expired(now time.Duration) bool {
	return p.silent.Load() && now-p.since >= SilentFor && !p.standing.Load().revoked
}

// pick returns the ids of at most n pinned agents that fit, in order.
func (t *Trust) pick(n int, fits func(*pinned) bool) (ids []string) {
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

func (t *Trust) noteReported(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	defer t.lockAll(ids)()
	var pins []store.Pin
	var agents []*pinned
	for _, id := range ids {
		if p := t.holder(id); p != nil {
			pin := p.stored()
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

// unpinMany deletes the pins among ids that still fit, in one write, on this node alone: each other node decides for
// itself. The agents may enrol again at once, if their tokens admit them; what they said before is not believed again.
func (t *Trust) unpinMany(ids []string, fits func(*pinned) bool, with ...store.Entry) (gone []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	defer t.lockAll(ids)()
	var agents []*pinned
	for _, id := range ids {
		if p := t.holder(id); p != nil && fits(p) {
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
		t.forget(p)
	}
	t.mu.Unlock()
	for _, id := range gone {
		t.answers.forget(id)
	}
	return gone, nil
}

// lockAll is lock for many agents; the result unlocks. The order is always the same, so that two never wait for each
// other.
func (t *Trust) lockAll(ids []string) (unlock func()) {
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

// Selection selects pins of one service. It never selects revoked agents: their pins keep them out.
type Selection struct {
	Service       string
	NeverReported bool
	PinnedSince   time.Time // zero: at any time
}

func (s Selection) fits(p *pinned) bool {
	pin := p.stored()
	return !pin.Revoked && (!s.NeverReported || p.silent.Load()) && !pin.FirstSeen.Before(s.PinnedSince) &&
		slices.ContainsFunc(pin.Services, func(proved store.PinnedService) bool { return proved.Name == s.Service })
}

// Select returns the ids of the selected agents, in order.
func (t *Trust) Select(s Selection) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	ids := []string{}
	for id, p := range t.byID {
		if s.fits(p) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// UnpinSelected deletes the pins of those ids that s still selects, and returns them. It is one write: on an error none
// is deleted. Unlike after Unpin, the agents' processes may enrol again, if their tokens admit them.
func (t *Trust) UnpinSelected(ctx context.Context, s Selection, ids []string, with ...store.Entry) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gone, err := t.unpinMany(ids, s.fits, with...)
	if len(gone) > 0 {
		t.log.Info().Str("service", s.Service).Int("pins", len(gone)).Msg("pins deleted")
	}
	return gone, err
}
