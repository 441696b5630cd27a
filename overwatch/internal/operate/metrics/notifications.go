package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/shared/api"
)

// RegisterNotifications adds the metrics of notifications to r. targets returns the receivers.
func RegisterNotifications(r prometheus.Registerer, targets func() []api.NotificationTarget) error {
	return r.Register(&notificationFacts{targets,
		desc("notifications_sent_total", "Messages that a receiver of notifications has taken.", "target"),
		desc("notifications_failed_total", "Attempts to notify a receiver that have failed.", "target"),
		desc("notifications_dropped_total", "Events that a receiver is never told of.", "target"),
		desc("notifications_queued", "Events that wait to be told to a receiver.", "target"),
	})
}

// notificationFacts collects the metrics of notifications at each scrape.
type notificationFacts struct {
	targets                       func() []api.NotificationTarget
	sent, failed, dropped, queued *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (f *notificationFacts) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{f.sent, f.failed, f.dropped, f.queued} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (f *notificationFacts) Collect(ch chan<- prometheus.Metric) {
	for _, t := range f.targets() {
		for d, count := range map[*prometheus.Desc]uint64{f.sent: t.Sent, f.failed: t.Failed, f.dropped: t.Dropped} {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(count), t.Name)
		}
		ch <- prometheus.MustNewConstMetric(f.queued, prometheus.GaugeValue, float64(t.Queued), t.Name)
	}
}
