package hints

import "github.com/prometheus/client_golang/prometheus"

// metrics are the counters of hints. Each counts backends.
type metrics struct {
	hints                           *prometheus.CounterVec
	sent, failed, received, dropped prometheus.Counter
}

func newMetrics() *metrics {
	hints := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_overwatch_hints_total",
		Help: "Backends in hints about failures between nodes: sent to a peer, failed to reach a peer, received, or " +
			"dropped because of a bound, an earlier hint, or an unknown or failing backend.",
	}, []string{"outcome"})
	return &metrics{hints: hints, sent: hints.WithLabelValues("sent"), failed: hints.WithLabelValues("failed"),
		received: hints.WithLabelValues("received"), dropped: hints.WithLabelValues("dropped")}
}
