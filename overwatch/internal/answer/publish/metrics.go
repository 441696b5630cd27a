package publish

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of publications.
type metrics struct {
	publications   prometheus.Counter
	zones, domains prometheus.Gauge
	duration       prometheus.Histogram
}

func newMetrics() *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "gslb_dns_" + name, Help: help})
	}
	return &metrics{
		publications: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gslb_dns_publications_total", Help: "How often changes were put into DNS answers.",
		}),
		zones:   gauge("zones", "Zones that are served."),
		domains: gauge("domains", "Names whose answers are steered."),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "gslb_dns_publish_seconds",
			Help:    "Time from taking up changes to their being in DNS answers.",
			Buckets: []float64{.00001, .0001, .001, .005, .01, .05, .1, .5, 1, 5},
		}),
	}
}

func (m *metrics) register(r prometheus.Registerer) error {
	return errors.Join(r.Register(m.publications), r.Register(m.zones), r.Register(m.domains), r.Register(m.duration))
}
