package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/health/trust"
)

// pins collects the use of each service's limits. Services are those with a token, so agents cannot make up label
// values.
type pins struct {
	usage                           func() []trust.Use
	pinned, limit, unreported, lock *prometheus.Desc
}

func newPins(usage func() []trust.Use) *pins {
	return &pins{
		usage:  usage,
		pinned: desc("overwatch_service_pins", "Pinned agents of a service that are not revoked.", "service"),
		limit: desc("overwatch_service_pins_limit", "How many a service may have: agent_policies.<service>.max_agents.",
			"service"),
		unreported: desc("overwatch_service_pins_unreported", "Those of them that have not reported yet.", "service"),
		lock:       desc("overwatch_service_locked", "1 while the service's token admits no new agents.", "service"),
	}
}

// Describe implements prometheus.Collector.
func (p *pins) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.pinned, p.limit, p.unreported, p.lock} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (p *pins) Collect(ch chan<- prometheus.Metric) {
	for _, use := range p.usage() {
		gauge := func(d *prometheus.Desc, value float64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, use.Service)
		}
		gauge(p.pinned, float64(use.Pins))
		gauge(p.limit, float64(use.Limit))
		gauge(p.unreported, float64(use.Unreported))
		gauge(p.lock, truth(use.Locked))
	}
}
