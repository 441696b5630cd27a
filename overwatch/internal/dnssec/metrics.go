package dnssec

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what signing exports.
type metrics struct {
	signatures, failures prometheus.Counter
	ages                 *ages
}

func newMetrics(z *Zones) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "gslb_dnssec_" + name, Help: help})
	}
	return &metrics{
		signatures: counter("signatures_total", "Signatures made since the start."),
		failures:   counter("signing_failures_total", "RRsets that could not be signed; queries for them are answered SERVFAIL."),
		ages: &ages{zones: z, desc: prometheus.NewDesc("gslb_dnssec_key_age_seconds",
			"Age of the oldest key that signs, by zone.", []string{"zone"}, nil)},
	}
}

func (m *metrics) register(r prometheus.Registerer) error {
	return errors.Join(r.Register(m.signatures), r.Register(m.failures), r.Register(m.ages))
}

// ages exports the age of each zone's key.
type ages struct {
	zones *Zones
	desc  *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (a *ages) Describe(out chan<- *prometheus.Desc) { out <- a.desc }

// Collect implements prometheus.Collector.
func (a *ages) Collect(out chan<- prometheus.Metric) {
	now := a.zones.now()
	told := make(map[string]bool)
	for _, k := range a.zones.Keys() {
		if k.Signing && !told[k.Zone()] {
			told[k.Zone()] = true
			out <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, now.Sub(k.Created()).Seconds(), k.Zone())
		}
	}
}
