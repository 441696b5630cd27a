package keysync

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters and gauges of the exchange of keys.
type metrics struct {
	requests        *prometheus.CounterVec
	served, refused prometheus.Counter
	gauges          []prometheus.GaugeFunc
}

func newMetrics(s *Sync) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_dnssec_sync_requests_total", Help: "Requests of other nodes for keys, by outcome.",
		}, []string{"outcome"}),
		gauges: []prometheus.GaugeFunc{
			s.gauge("sync_success", "0 when the last round of key synchronisation failed with a peer, else 1.",
				func(st *status) float64 { return truth(st.failure == nil) }),
			s.gauge("last_sync_timestamp", "When all peers last answered, in seconds since 1970; 0 if they never did.",
				func(st *status) float64 {
					if st.success.IsZero() {
						return 0
					}
					return float64(st.success.Unix())
				}),
			s.gauge("sync_peers_failing", "Peers with which the last round failed.", func(st *status) (failing float64) {
				for _, p := range st.peers {
					failing += truth(p.err != nil)
				}
				return failing
			}),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gslb_dnssec_sync_off",
				Help: "1 while signing keys are not exchanged with the configured peers because an agent could compute the " +
					"secret, else 0."}, func() float64 { return truth(s.Off() != nil) }),
		},
	}
	m.served, m.refused = m.requests.WithLabelValues("served"), m.requests.WithLabelValues("refused")
	return m
}

// gauge returns a gauge that reads the status at each scrape.
func (s *Sync) gauge(name, help string, read func(*status) float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gslb_dnssec_" + name, Help: help}, func() float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return read(&s.status)
	})
}

func (m *metrics) register(r prometheus.Registerer) error {
	err := r.Register(m.requests)
	for _, gauge := range m.gauges {
		err = errors.Join(err, r.Register(gauge))
	}
	return err
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
