package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/shared/api"
)

// RegisterNotifications adds the metrics of notifications to r. targets returns the receivers.
func RegisterNotifications(r prometheus.Registerer, targets func() []api.NotificationTarget) error {
	return r.Register(collector(func(s scrape) {
		for _, t := range targets() {
			s.counter("notifications_sent_total", "Messages that a receiver of notifications has taken.", t.Sent,
				"target", t.Name)
			s.counter("notifications_failed_total", "Attempts to notify a receiver that have failed.", t.Failed,
				"target", t.Name)
			s.counter("notifications_dropped_total", "Events that were dropped for a receiver.", t.Dropped, "target", t.Name)
			s.gauge("notifications_queued", "Events that wait for a receiver.", float64(t.Queued), "target", t.Name)
		}
	}))
}
