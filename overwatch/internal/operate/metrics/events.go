package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/shared/api"
)

// Journal is the source of the metrics of events; journal.Journal implements it.
type Journal interface {
	Totals() map[api.EventKind]uint64
	Unstored() int
}

// RegisterEvents adds the metrics of events to r. folded returns how many changes have no event of their own.
func RegisterEvents(r prometheus.Registerer, j Journal, folded func() uint64) error {
	return r.Register(&eventFacts{j, folded,
		desc("events_total", "Events since the start, by kind.", "kind"),
		desc("events_folded_total", "Changes without an event of their own, since there were too many at once."),
		desc("events_unstored", "Events that the disk has not taken yet; they are lost if the node ends before."),
	})
}

// eventFacts collects the metrics of events at each scrape.
type eventFacts struct {
	journal                 Journal
	folded                  func() uint64
	total, foldeds, unstore *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (f *eventFacts) Describe(ch chan<- *prometheus.Desc) {
	ch <- f.total
	ch <- f.foldeds
	ch <- f.unstore
}

// Collect implements prometheus.Collector.
func (f *eventFacts) Collect(ch chan<- prometheus.Metric) {
	totals := f.journal.Totals()
	for _, kind := range api.EventKindNames() {
		ch <- prometheus.MustNewConstMetric(f.total, prometheus.CounterValue, float64(totals[api.EventKind(kind)]), kind)
	}
	ch <- prometheus.MustNewConstMetric(f.foldeds, prometheus.CounterValue, float64(f.folded()))
	ch <- prometheus.MustNewConstMetric(f.unstore, prometheus.GaugeValue, float64(f.journal.Unstored()))
}
