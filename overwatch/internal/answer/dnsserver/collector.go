package dnsserver

import "github.com/prometheus/client_golang/prometheus"

// collector exports the counts of all responders, summed at each scrape.
type collector struct {
	server *Server

	queries, truncated, unsent, overflow, stale, limited, faults, open, unaccepted, ended, closed *prometheus.Desc
}

func newCollector(s *Server) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("gslb_dns_"+name, help, labels, nil)
	}
	return &collector{
		server:    s,
		queries:   desc("queries_total", "DNS queries by what became of them.", "status"),
		truncated: desc("truncated_total", "Responses over UDP that were too long and told the client to use TCP."),
		unsent:    desc("udp_unsent_total", "Responses that the kernel did not take."),
		overflow: desc("udp_overflow_total",
			"Queries that the kernel dropped because they came faster than they were read."),
		stale: desc("udp_stale_total",
			"Queries that were not answered because they had waited too long in a socket that ran over."),
		limited: desc("rate_limited_total",
			"Responses that the rate limit kept back or replaced by one without records, by which.", "action"),
		faults: desc("faults_total", "Queries over which the code failed; the log has the details."),
		open:   desc("tcp_connections", "Open TCP connections."),
		unaccepted: desc("tcp_overflow_total",
			"TCP connections that the kernel turned away because too many waited to be accepted."),
		ended: desc("tcp_evicted_total", "TCP connections that were closed to make room, by the limit that was reached.",
			"limit"),
		closed: desc("tcp_closed_total", "TCP connections that were closed for what they did, by reason.", "reason"),
	}
}

// Describe sends the descriptions of all metrics.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.queries, c.truncated, c.unsent, c.overflow, c.stale, c.limited, c.faults,
		c.open, c.unaccepted, c.ended, c.closed} {
		out <- d
	}
}

// Collect sends their values.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, value uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	var queries [statuses]uint64
	var truncated, unsent, stale, faults, lost, limitedTruncated, limitedDropped uint64
	for _, counts := range c.server.counts {
		for s := range queries {
			queries[s] += counts.queries[s].Load()
		}
		truncated += counts.truncated.Load()
		unsent += counts.unsent.Load()
		stale += counts.stale.Load()
		limitedTruncated += counts.limitedTruncated.Load()
		limitedDropped += counts.limitedDropped.Load()
		faults += counts.faults.Load()
	}
	for s, n := range queries {
		counter(c.queries, n, statusNames[s])
	}
	for _, socket := range c.server.sockets {
		if !socket.twin {
			lost += socket.drops()
		}
	}
	counter(c.truncated, truncated)
	counter(c.unsent, unsent)
	counter(c.overflow, lost)
	counter(c.stale, stale)
	counter(c.limited, limitedTruncated, "truncated")
	counter(c.limited, limitedDropped, "dropped")
	counter(c.faults, faults)
	var unaccepted, gone uint64
	for _, listener := range c.server.listeners {
		unaccepted += listener.turnedAway()
		gone += listener.gone.Load()
	}
	counter(c.unaccepted, unaccepted)
	connections := c.server.tcp.connections
	out <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(connections.open()))
	counter(c.ended, connections.evicted.Load(), "total")
	counter(c.ended, connections.evictedClient.Load(), "client")
	counter(c.closed, connections.idle.Load(), "idle")
	counter(c.closed, connections.unread.Load(), "unread")
	counter(c.closed, connections.nonsense.Load(), "nonsense")
	counter(c.closed, gone, "gone")
}
