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
func (c collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

// scrape receives the metrics of a scrape. Labels are alternating names and values.
type scrape chan<- prometheus.Metric

func (s scrape) gauge(name, help string, value float64, labels ...string) {
	s.metric(prometheus.GaugeValue, name, help, value, labels)
}

func (s scrape) counter(name, help string, value uint64, labels ...string) {
	s.metric(prometheus.CounterValue, name, help, float64(value), labels)
}

func (s scrape) metric(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for label := range slices.Chunk(labels, 2) {
		names, values = append(names, label[0]), append(values, label[1])
	}
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc("gslb_"+name, help, names, nil), kind, value, values...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
