package querylog

import "github.com/prometheus/client_golang/prometheus"

// collector exports the counts of a Log.
type collector struct {
	log            *Log
	lines, dropped *prometheus.Desc
}

func newCollector(l *Log) *collector {
	return &collector{
		log:   l,
		lines: prometheus.NewDesc("gslb_query_log_lines_total", "Lines written to the query log.", nil, nil),
		dropped: prometheus.NewDesc("gslb_query_log_dropped_total",
			"Lines of the query log that were dropped instead of delaying answers, by reason.", []string{"reason"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.lines
	out <- c.dropped
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	var full uint64
	for _, w := range c.log.list() {
		full += w.dropped.Load()
	}
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	counter(c.lines, c.log.written.Load())
	counter(c.dropped, full, "queue_full")
	counter(c.dropped, c.log.lost.Load(), "write_failed")
}
