package audit

import (
	"maps"
	"slices"
	"time"

	"gslb.internal/shared/api"
)

// topActors is the maximum number of actors in Stats.
const topActors = 10

// Stats counts the entries of all rooms.
func (l *Log) Stats(now time.Time) (api.AuditStats, error) {
	st := api.AuditStats{
		ByAction: map[string]int{}, ByResource: map[string]int{}, ByStatus: map[string]int{},
		ByActorType: map[string]int{},
		TopActors:   []api.ActorCount{}, RetentionDays: l.Retention().Hours() / 24,
	}
	actors := map[string]int{}
	all := merge(l.Oldest(Changes), l.Oldest(Refusals), true)
	for e, err := range merge(all, l.Oldest(Received), true) {
		if err != nil {
			return st, err
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
	return st, nil
}
