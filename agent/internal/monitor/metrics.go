package monitor

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// measure registers the monitor's metrics and returns the function that counts a check. The labels are the backends of
// the agent, at most wire.MaxBackends.
func (m *Monitor) measure(r prometheus.Registerer) (count func(check.Result)) {
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_agent_checks_total",
		Help: "Health checks made, by outcome; unknown ones could not be made for a reason of this host.",
	}, []string{"outcome"})
	by := map[check.Outcome]prometheus.Counter{}
	for _, o := range []check.Outcome{check.Success, check.Failure, check.Unknown} {
		by[o] = checks.WithLabelValues(o.String())
	}
	heldUp := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "gslb_agent_checks_held_up_total",
		Help: "Health checks that ended without an answer while this process was stopped or had no time; up to three in a " +
			"row say nothing.",
	})
	r.MustRegister(checks, heldUp, newHealth(m))
	return func(r check.Result) {
		m.checks.Add(1)
		by[r.Outcome].Inc()
		if r.HeldUp {
			heldUp.Inc()
		}
	}
}

// health is a collector that reads the state of each backend at the time of the scrape.
type health struct {
	monitor *Monitor
	healthy *prometheus.Desc
	latency *prometheus.Desc
}

func newHealth(m *Monitor) *health {
	labels := []string{"service", "address", "port"}
	return &health{
		monitor: m,
		healthy: prometheus.NewDesc("gslb_agent_backend_healthy",
			"1 for a backend that the agent finds healthy, 0 for an unhealthy one; absent before the first conclusive check.",
			labels, nil),
		latency: prometheus.NewDesc("gslb_agent_backend_check_seconds",
			"How long the last health check of the backend took; absent before the first conclusive check.", labels, nil),
	}
}

// Describe implements prometheus.Collector.
func (h *health) Describe(out chan<- *prometheus.Desc) {
	out <- h.healthy
	out <- h.latency
}

// Collect implements prometheus.Collector.
func (h *health) Collect(out chan<- prometheus.Metric) {
	for _, b := range h.monitor.Snapshot() {
		if b.Claim == wire.ClaimNone {
			continue
		}
		labels := []string{b.Service, b.Address.String(), strconv.Itoa(int(b.Port))}
		value := 0.0
		if b.Claim == wire.ClaimHealthy {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(h.healthy, prometheus.GaugeValue, value, labels...)
		out <- prometheus.MustNewConstMetric(h.latency, prometheus.GaugeValue, float64(b.LatencyMicros)/1e6, labels...)
	}
}
