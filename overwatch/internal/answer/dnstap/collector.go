package dnstap

import "github.com/prometheus/client_golang/prometheus"

// collector exports the counts of a Tap.
type collector struct {
	tap                      *Tap
	connected, sent, dropped *prometheus.Desc
}

func newCollector(t *Tap) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("gslb_dnstap_"+name, help, labels, nil)
	}
	return &collector{
		tap:       t,
		connected: desc("connected", "1 while a dnstap consumer is connected."),
		sent:      desc("messages_sent_total", "dnstap messages sent to the consumer."),
		dropped: desc("messages_dropped_total", "dnstap messages that were dropped instead of delaying answers, by reason.",
			"reason"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.connected, c.sent, c.dropped} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	var unconnected, overflowed uint64
	for _, w := range c.tap.list() {
		unconnected += w.unconnected.Load()
		overflowed += w.overflowed.Load()
	}
	connected := 0.0
	if c.tap.connected.Load() {
		connected = 1
	}
	out <- prometheus.MustNewConstMetric(c.connected, prometheus.GaugeValue, connected)
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	counter(c.sent, c.tap.sent.Load())
	counter(c.dropped, unconnected, "unconnected")
	counter(c.dropped, overflowed, "buffer_full")
	counter(c.dropped, c.tap.lost.Load(), "connection_lost")
}
