package keysync

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters of the exchange of keys.
type metrics struct {
	requests        *prometheus.CounterVec
	served, refused prometheus.Counter
	state           *state
}

func newMetrics(s *Sync) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_dnssec_sync_requests_total", Help: "Requests of other nodes for keys, by outcome.",
		}, []string{"outcome"}),
		state: &state{
			sync: s,
			success: prometheus.NewDesc("gslb_dnssec_sync_success",
				"0 when the last round of key synchronisation failed with a peer, else 1.", nil, nil),
			last: prometheus.NewDesc("gslb_dnssec_last_sync_timestamp",
				"When all peers last answered, in seconds since 1970; 0 if they never did.", nil, nil),
			off: prometheus.NewDesc("gslb_dnssec_sync_off",
				"1 while signing keys are not exchanged with the configured peers because an agent could compute the secret, "+
					"else 0.", nil, nil),
			failing: prometheus.NewDesc("gslb_dnssec_sync_peers_failing", "Peers with which the last round failed.", nil, nil),
		},
	}
	m.served, m.refused = m.requests.WithLabelValues("served"), m.requests.WithLabelValues("refused")
	return m
}

func (m *metrics) register(r prometheus.Registerer) error {
	return errors.Join(r.Register(m.requests), r.Register(m.state))
}

// state exports the status as gauges.
type state struct {
	sync                   *Sync
	success, last, failing *prometheus.Desc
	off                    *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *state) Describe(out chan<- *prometheus.Desc) {
	out <- c.success
	out <- c.last
	out <- c.failing
	out <- c.off
}

// Collect implements prometheus.Collector.
func (c *state) Collect(out chan<- prometheus.Metric) {
	off := 0.
	if c.sync.Off() != nil {
		off = 1
	}
	c.sync.mu.Lock()
	defer c.sync.mu.Unlock()
	st := &c.sync.status
	success, last, failing := 1., 0., 0.
	if st.failure != nil {
		success = 0
	}
	if !st.success.IsZero() {
		last = float64(st.success.Unix())
	}
	for _, p := range st.peers {
		if p.err != nil {
			failing++
		}
	}
	for desc, value := range map[*prometheus.Desc]float64{c.success: success, c.last: last, c.failing: failing,
		c.off: off} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
}
