package registry

import (
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

// settleAt settles s, which may be nil, after a round that has declared all that configuration declares of it.
func (w *writer) settleAt(s *service, round uint64, now time.Time) {
	if s != nil {
		s.round = round
		w.settle(s, now)
	}
}

// settle ends the static declarations of s that its newest round does not repeat. A replaced server that may serve
// stays until the new ones have a verdict, for one interval each at most. The first round, at the start, waits for
// nothing.
func (w *writer) settle(s *service, now time.Time) {
	s.settling = false
	awaits := s.round > 1 && s.awaitsVerdicts()
	for i := len(s.records) - 1; i >= 0; i-- { // backwards: release may remove the one at i
		rec := s.records[i]
		d := rec.static
		if d == nil || d.round == s.round {
			continue
		}
		if d.leavesBy == 0 {
			d.leavesBy = w.at(now.Add(w.timing.ValidationInterval))
		}
		if awaits && rec.pub.MayServe && w.at(now) < d.leavesBy {
			s.settling = true
			w.wake(s, &s.timer, w.start.Add(time.Duration(d.leavesBy)))
			continue
		}
		rec.static = nil
		w.release(rec, now)
	}
}

// awaitsVerdicts reports whether nothing is known of a backend that the newest round declares.
func (s *service) awaitsVerdicts() bool {
	return slices.ContainsFunc(s.records, func(rec *record) bool {
		return rec.static != nil && rec.static.round == s.round && rec.pub.unjudged()
	})
}

// unjudged reports whether nothing is known of b since the restart.
func (b *Backend) unjudged() bool {
	return b.Reason == status.ReasonUnknown ||
		b.Reason == status.ReasonRememberedUnhealthy && b.Validation.State == check.StateUnknown
}
