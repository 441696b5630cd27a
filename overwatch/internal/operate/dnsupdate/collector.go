package dnsupdate

import (
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

// collector exports the counts of a Handler.
type collector struct {
	h                 *Handler
	messages, dropped *prometheus.Desc
}

func newCollector(h *Handler) *collector {
	return &collector{h,
		prometheus.NewDesc("gslb_dns_updates_total",
			"DNS UPDATE messages with a TSIG record of a known key, by response code.", []string{"rcode"}, nil),
		prometheus.NewDesc("gslb_dns_updates_dropped_total",
			"DNS UPDATE messages without a result because too many messages waited.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) { out <- c.messages; out <- c.dropped }

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for code := range c.h.results {
		if n := c.h.results[code].Load(); n > 0 || code == dns.RcodeSuccess {
			out <- prometheus.MustNewConstMetric(c.messages, prometheus.CounterValue, float64(n), dns.RcodeToString[code])
		}
	}
	out <- prometheus.MustNewConstMetric(c.dropped, prometheus.CounterValue, float64(c.h.dropped.Load()))
}
