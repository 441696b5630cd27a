package dnsserver

import "github.com/prometheus/client_golang/prometheus"

// collector exports the counts of all responders, summed at each scrape.
type collector struct {
	server *Server

	queries, truncated, unsent, overflow, stale, limited, faults, open, unaccepted, ended, closed *prometheus.Desc
	unproxied                                                                                     *prometheus.Desc
}

func newCollector(s *Server) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("gslb_dns_"+name, help, labels, nil)
	}
	return &collector{
		server:    s,
		queries:   desc("queries_total", "DNS queries by status.", "status"),
		truncated: desc("truncated_total", "Truncated UDP responses (TC flag): the client retries over TCP."),
		unsent:    desc("udp_unsent_total", "Responses that the kernel did not send."),
		overflow: desc("udp_overflow_total",
			"Queries that the kernel dropped because the receive buffer was full."),
		stale: desc("udp_stale_total",
			"Queries that expired in a full receive buffer."),
		limited: desc("rate_limited_total",
			"Responses that the rate limit dropped or truncated, by action.", "action"),
		faults: desc("faults_total", "Queries that caused a panic; see the log."),
		open:   desc("tcp_connections", "Open TCP connections."),
		unaccepted: desc("tcp_overflow_total",
			"TCP connections that the kernel rejected because the accept queue was full."),
		ended: desc("tcp_evicted_total", "TCP connections that were closed for new connections, by limit.",
			"limit"),
		closed: desc("tcp_closed_total", "TCP connections that were closed because of an error, by reason.", "reason"),
		unproxied: desc("proxy_protocol_rejected_total",
			"UDP messages and TCP connections of proxies without a valid PROXY protocol header."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.queries, c.truncated, c.unsent, c.overflow, c.stale, c.limited, c.faults,
		c.open, c.unaccepted, c.ended, c.closed, c.unproxied} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	var queries [statuses]uint64
	var truncated, unsent, stale, unproxied, faults, lost, limitedTruncated, limitedDropped uint64
	for _, counts := range c.server.counts {
		for s := range queries {
			queries[s] += counts.queries[s].Load()
		}
		truncated += counts.truncated.Load()
		unsent += counts.unsent.Load()
		stale += counts.stale.Load()
		unproxied += counts.unproxied.Load()
		limitedTruncated += counts.rateLimitTruncated.Load()
		limitedDropped += counts.rateLimitDropped.Load()
		faults += counts.faults.Load()
	}
	for s, n := range queries {
		counter(c.queries, n, statusNames[s])
	}
	for _, socket := range c.server.sockets {
		if !socket.isDuplicate {
			lost += socket.countDrops()
		}
	}
	counter(c.truncated, truncated)
	counter(c.unsent, unsent)
	counter(c.overflow, lost)
	counter(c.stale, stale)
	counter(c.unproxied, unproxied)
	counter(c.limited, limitedTruncated, "truncated")
	counter(c.limited, limitedDropped, "dropped")
	counter(c.faults, faults)
	var unaccepted, gone uint64
	for _, listener := range c.server.listeners {
		unaccepted += listener.countOverflows()
		gone += listener.closedByClient.Load()
	}
	counter(c.unaccepted, unaccepted)
	connections := c.server.tcp.connections
	out <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(connections.countOpen()))
	counter(c.ended, connections.evicted.Load(), "total")
	counter(c.ended, connections.evictedClient.Load(), "client")
	counter(c.closed, connections.idle.Load(), "idle")
	counter(c.closed, connections.unread.Load(), "unread")
	counter(c.closed, connections.nonsense.Load(), "nonsense")
	counter(c.closed, gone, "gone")
}
