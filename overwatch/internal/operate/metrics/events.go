package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// RegisterEvents adds the metrics of events to r. folded returns the number of changes without a separate event.
func RegisterEvents(r prometheus.Registerer, j *journal.Journal, folded func() uint64) error {
	return r.Register(collector(func(s scrape) {
		totals := j.Totals()
		for _, kind := range api.EventKindNames() {
			s.counter("events_total", "Events since the start, by kind.", totals[api.EventKind(kind)], "kind", kind)
		}
		s.counter("events_folded_total", "Changes without a separate event, above the limits of events.",
			folded())
		s.gauge("events_unstored", "Events that the disk has not taken yet; they are lost if the node ends before.",
			float64(j.Unstored()))
	}))
}
