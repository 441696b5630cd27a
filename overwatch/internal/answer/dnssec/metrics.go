package dnssec

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// metrics holds the counters of signing and the collector of the gauges by zone.
type metrics struct {
	signatures, failures prometheus.Counter
	zones                *zoneFigures
}

func newMetrics(z *Zones) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "gslb_dnssec_" + name, Help: help})
	}
	return &metrics{
		signatures: counter("signatures_total", "Signatures created since the start."),
		failures: counter("signing_failures_total",
			"RRsets that could not be signed; queries for them are answered SERVFAIL."),
		zones: &zoneFigures{
			zones: z,
			age: prometheus.NewDesc("gslb_dnssec_key_age_seconds", "Age of the oldest key that signs, by zone.",
				[]string{"zone"}, nil),
			lost: prometheus.NewDesc("gslb_dnssec_keys_lost",
				"1 for a day after a zone's keys were lost and a new key was created, unless a copy is restored, by zone.",
				[]string{"zone"}, nil),
			stage: prometheus.NewDesc("gslb_dnssec_roll_stage",
				"Stage of the change of a zone's signing key, or of its way to be unsigned or signed: 1 signing, 2 published, "+
					"3 offered, 4 alone or unsigned; 0 if no change is under way.",
				[]string{"zone"}, nil),
			since: prometheus.NewDesc("gslb_dnssec_roll_stage_timestamp",
				"When the stage of a change that is under way began, in seconds since 1970; 0: none is.", []string{"zone"}, nil),
			unsigned: prometheus.NewDesc("gslb_dnssec_zone_unsigned",
				"1 while a zone is unsigned because of an operator's request, by zone.", []string{"zone"}, nil),
		},
	}
}

func (m *metrics) register(r prometheus.Registerer) error {
	return errors.Join(r.Register(m.signatures), r.Register(m.failures), r.Register(m.zones))
}

// zoneFigures exports the gauges of each served zone.
type zoneFigures struct {
	zones                             *Zones
	age, lost, stage, since, unsigned *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (f *zoneFigures) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{f.age, f.lost, f.stage, f.since, f.unsigned} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (f *zoneFigures) Collect(out chan<- prometheus.Metric) {
	now := f.zones.now()
	announced := make(map[string]bool)
	for _, k := range f.zones.Keys() {
		if k.Signing && !announced[k.Zone()] {
			announced[k.Zone()] = true
			out <- prometheus.MustNewConstMetric(f.age, prometheus.GaugeValue, now.Sub(k.Created()).Seconds(), k.Zone())
		}
	}
	stages, since := make(map[string]roll.Stage), make(map[string]int64)
	for _, r := range f.zones.Rolls() {
		if r.Stage < roll.Done {
			stages[r.Zone], since[r.Zone] = r.Stage, r.Since.Unix()
		}
	}
	for _, zone := range f.zones.Unsigned() {
		out <- prometheus.MustNewConstMetric(f.stage, prometheus.GaugeValue, float64(stages[zone]), zone)
		out <- prometheus.MustNewConstMetric(f.since, prometheus.GaugeValue, float64(since[zone]), zone)
		out <- prometheus.MustNewConstMetric(f.unsigned, prometheus.GaugeValue, 1, zone)
	}
	for zone, lost := range f.zones.losses() {
		out <- prometheus.MustNewConstMetric(f.unsigned, prometheus.GaugeValue, 0, zone)
		out <- prometheus.MustNewConstMetric(f.stage, prometheus.GaugeValue, float64(stages[zone]), zone)
		out <- prometheus.MustNewConstMetric(f.since, prometheus.GaugeValue, float64(since[zone]), zone)
		value := 0.0
		if lost {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(f.lost, prometheus.GaugeValue, value, zone)
	}
}
