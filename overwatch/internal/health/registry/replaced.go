package registry

import (
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

// endDeclarationsBefore ends declarations of s that are older than a complete round. s may be nil.
func (w *writer) endDeclarationsBefore(s *service, round uint64, now time.Time) {
	if s != nil {
		s.declarationRound = round
		w.removeReplaced(s, now)
	}
}

// removeReplaced ends the static declarations of s that its last round does not repeat. A replaced server that serves
// stays until the new servers have a result, at most one interval. The first round, at the start, ends them without
// delay.
func (w *writer) removeReplaced(s *service, now time.Time) {
	s.hasReplaced = false
	awaits := s.declarationRound > 1 && s.awaitsFirstCheck()
	for i := len(s.records) - 1; i >= 0; i-- { // backwards, since removeOrRefresh may remove the record
		rec := s.records[i]
		d := rec.static
		if d == nil || d.round == s.declarationRound {
			continue
		}
		if d.removeBy == 0 {
			d.removeBy = w.deadlineFor(now.Add(w.timing.ValidationInterval))
		}
		if awaits && rec.published.MayServe && w.deadlineFor(now) < d.removeBy {
			s.hasReplaced = true
			w.setDeadline(s, &s.timer, w.start.Add(time.Duration(d.removeBy)))
			continue
		}
		rec.static = nil
		w.removeOrRefresh(rec, now)
	}
}

// awaitsFirstCheck reports whether a backend of the last round has no status.
func (s *service) awaitsFirstCheck() bool {
	return slices.ContainsFunc(s.records, func(rec *record) bool {
		return rec.static != nil && rec.static.round == s.declarationRound && rec.published.hasNoStatus()
	})
}

// hasNoStatus reports whether the registry has no evidence about b since the restart.
func (b *Backend) hasNoStatus() bool {
	return b.Reason == status.ReasonUnknown ||
		b.Reason == status.ReasonRememberedUnhealthy && b.OwnCheck.State == check.StateUnknown
}
