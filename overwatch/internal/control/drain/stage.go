// Package drain computes the progress of a drain, and the time at which the drained backend is safe to stop.
package drain

import (
	"time"

	"gslb.internal/shared/api"
)

// State is the input of the stage of a drain.
type State struct {
	Share            float64       // the remaining share of the weight, from 0 to 1
	StartsAt, EndsAt time.Time     // the time in which the share falls
	TTL              time.Duration // the time that resolvers cache an answer
	Answered         bool          // the published answers of the name contain the backend
	// LastAnswered is the last time at which the published answers contained the backend, or zero if it is before EndsAt.
	LastAnswered time.Time
}

// Stage returns the stage at a time, and the time from which the backend is safe to stop. This time is zero if it is
// unknown: the drain leaves a share, or answers still contain the backend.
func (s State) Stage(now time.Time) (api.DrainStage, time.Time) {
	safeAt := s.EndsAt
	if s.LastAnswered.After(safeAt) {
		safeAt = s.LastAnswered
	}
	safeAt = safeAt.Add(s.TTL)
	if s.Share > 0 {
		safeAt = time.Time{}
	}
	switch {
	case now.Before(s.StartsAt):
		return api.DrainPlanned, safeAt
	case now.Before(s.EndsAt):
		return api.DrainDraining, safeAt
	case s.Share > 0:
		return api.DrainReduced, safeAt
	case s.Answered:
		return api.DrainAnswered, time.Time{}
	case now.Before(safeAt):
		return api.DrainCached, safeAt
	}
	return api.DrainSafe, safeAt
}
