package validation

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/shared/check"
)

// metrics are this package's figures.
type metrics struct {
	checks   map[check.Outcome]prometheus.Counter
	heldUp   prometheus.Counter
	inFlight prometheus.Gauge
	lag      prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_overwatch_validation_checks_total",
		Help: "Health checks by this node, by outcome; unknown means that this node could not run the check.",
	}, []string{"outcome"})
	m := &metrics{
		checks: map[check.Outcome]prometheus.Counter{},
		heldUp: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gslb_overwatch_validation_held_up_total",
			Help: "Health checks of this node that ended without an answer while this process was stopped or had no time; up " +
				"to three in a row say nothing.",
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gslb_overwatch_validation_in_flight",
			Help: "Health checks of this node under way.",
		}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gslb_overwatch_validation_lag_seconds",
			Help: "How late the health check is that waits longest for its start; above 0 for long, this node has too much " +
				"to check.",
		}),
	}
	for _, o := range []check.Outcome{check.Success, check.Failure, check.Unknown} {
		m.checks[o] = checks.WithLabelValues(o.String())
	}
	for _, c := range []prometheus.Collector{checks, m.heldUp, m.inFlight, m.lag} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) count(r check.Result) {
	m.checks[r.Outcome].Inc()
	if r.HeldUp {
		m.heldUp.Inc()
	}
}
