package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// collector reads metrics from their sources at each scrape. It does not describe them to the registry in advance, so
// that name, help and value of a metric are in one place. The registry validates them at the scrape.
type collector func(scrape)

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c(scrape{ch, map[string]*prometheus.Desc{}}) }

// scrape receives the metrics of a scrape. Labels are alternating names and values. All series of a metric have the
// same help and the same labels, in the same order.
type scrape struct {
	metrics      chan<- prometheus.Metric
	descriptions map[string]*prometheus.Desc // by name of the metric
}

func (s scrape) gauge(name, help string, value float64, labels ...string) {
	s.metric(prometheus.GaugeValue, name, help, value, labels)
}

func (s scrape) counter(name, help string, value uint64, labels ...string) {
	s.metric(prometheus.CounterValue, name, help, float64(value), labels)
}

func (s scrape) metric(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	values := make([]string, 0, len(labels)/2)
	for label := range slices.Chunk(labels, 2) {
		values = append(values, label[1])
	}
	description := s.descriptions[name]
	if description == nil {
		names := make([]string, 0, len(values))
		for label := range slices.Chunk(labels, 2) {
			names = append(names, label[0])
		}
		description = prometheus.NewDesc("gslb_"+name, help, names, nil)
		s.descriptions[name] = description
	}
	s.metrics <- prometheus.MustNewConstMetric(description, kind, value, values...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
