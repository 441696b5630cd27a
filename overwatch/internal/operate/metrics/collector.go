package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// collector reads metrics from their owners at each scrape. It announces none of them to the registry beforehand, so
// that name, help and value of a metric stand in one place; the registry checks them at the scrape.
type collector func(scrape)

// Describe implements prometheus.Collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) { c(ch) }

// scrape takes the metrics of one scrape. Labels are names and values in turn.
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
