package httpapi

import (
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// topActors bounds the actors that the statistics name.
const topActors = 10

// getAuditStats answers GET /audit-logs/stats.
func (s *Server) getAuditStats(c *call) (answer, error) {
	now := s.o.Now()
	st := api.AuditStats{
		ByAction: map[string]int{}, ByResource: map[string]int{}, ByStatus: map[string]int{}, ByActorType: map[string]int{},
		TopActors: []api.ActorCount{}, RetentionDays: s.o.Audit.Retention().Hours() / 24,
	}
	actors := map[string]int{}
	all := mergeAudit(s.o.Audit.Oldest(audit.Changes), s.o.Audit.Oldest(audit.Refusals), true)
	for e, err := range mergeAudit(all, s.o.Audit.Oldest(audit.Received), true) {
		if err != nil {
			return answer{}, err
		}
		if st.OldestEntry == nil {
			st.OldestEntry = &e.Timestamp
		}
		st.NewestEntry = &e.Timestamp
		st.TotalEntries++
		if age := now.Sub(e.Timestamp); age <= 7*24*time.Hour {
			st.EntriesLast7d++
			if age <= 24*time.Hour {
				st.EntriesLast24h++
			}
		}
		st.ByAction[e.Action]++
		st.ByResource[e.Resource]++
		st.ByStatus[e.Status]++
		st.ByActorType[e.ActorType]++
		actors[e.Actor]++
	}
	for _, actor := range slices.Sorted(maps.Keys(actors)) {
		st.TopActors = append(st.TopActors, api.ActorCount{Actor: actor, Count: actors[actor]})
	}
	slices.SortStableFunc(st.TopActors, func(a, b api.ActorCount) int { return b.Count - a.Count })
	st.TopActors = st.TopActors[:min(len(st.TopActors), topActors)]
	return ok(api.AuditStatsAnswer{Stats: st, GeneratedAt: stamp(now)}), nil
}
