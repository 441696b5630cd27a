package drain_test

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/control/drain"
	"gslb.internal/shared/api"
)

func TestStage(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	drained := drain.State{StartsAt: at(0), EndsAt: at(60), TTL: 30 * time.Second}
	with := func(edit func(*drain.State)) drain.State {
		s := drained
		edit(&s)
		return s
	}
	half := with(func(s *drain.State) { s.Share = 0.5 })
	answered := with(func(s *drain.State) { s.Answered, s.LastAnswered = true, at(200) })
	late := with(func(s *drain.State) { s.LastAnswered = at(200) })
	early := with(func(s *drain.State) { s.LastAnswered = at(50) })
	for name, tc := range map[string]struct {
		state  drain.State
		now    int
		stage  api.DrainStage
		safeAt time.Time
	}{
		"planned":                   {drained, -1, api.DrainPlanned, at(90)},
		"planned, leaves a share":   {half, -1, api.DrainPlanned, time.Time{}},
		"started":                   {drained, 0, api.DrainDraining, at(90)},
		"nearly at its end":         {drained, 59, api.DrainDraining, at(90)},
		"at its end":                {drained, 60, api.DrainCached, at(90)},
		"last second of the TTL":    {drained, 89, api.DrainCached, at(90)},
		"TTL has passed":            {drained, 90, api.DrainSafe, at(90)},
		"leaves a share":            {half, 59, api.DrainDraining, time.Time{}},
		"has left a share":          {half, 1000, api.DrainReduced, time.Time{}},
		"answered while it drains":  {answered, 59, api.DrainDraining, at(230)},
		"answered":                  {answered, 200, api.DrainAnswered, time.Time{}},
		"answered before":           {late, 229, api.DrainCached, at(230)},
		"answered long before":      {late, 230, api.DrainSafe, at(230)},
		"answered before its end":   {early, 89, api.DrainCached, at(90)},
		"of a name without any TTL": {with(func(s *drain.State) { s.TTL = 0 }), 60, api.DrainSafe, at(60)},
	} {
		if stage, safeAt := tc.state.Stage(at(tc.now)); stage != tc.stage || !safeAt.Equal(tc.safeAt) {
			t.Errorf("%s: %s, safe at %s, want %s at %s", name, stage, safeAt, tc.stage, tc.safeAt)
		}
	}
}
