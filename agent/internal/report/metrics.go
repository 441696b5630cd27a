package report

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/shared/frame"
)

// metrics are the metrics of all links. The label node has the addresses of the configuration.
type metrics struct {
	sent      *prometheus.CounterVec
	failed    *prometheus.CounterVec
	connected *prometheus.GaugeVec
	rtt       *prometheus.GaugeVec
	duplicate *prometheus.GaugeVec
	rejected  *prometheus.CounterVec
	contact   *prometheus.CounterVec
	dropped   *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"node"})
	}
	m := &metrics{
		sent: counter("gslb_agent_heartbeats_sent_total", "Heartbeats sent, by overwatch node.", "node"),
		failed: counter("gslb_agent_heartbeat_failures_total",
			"Heartbeats that could not be sent or were not acknowledged, by overwatch node.", "node"),
		connected: gauge("gslb_agent_overwatch_connected", "1 while the overwatch node takes this agent's messages, else 0."),
		rtt:       gauge("gslb_agent_overwatch_rtt_seconds", "Round-trip time of the last answered ping."),
		duplicate: gauge("gslb_agent_duplicate_identity",
			"1 while the overwatch node reports another process with this agent's identity, else 0."),
		rejected: counter("gslb_agent_rejects_total",
			"What overwatch nodes did not take from this agent, by node and reason.", "node", "code"),
		contact: counter("gslb_agent_overwatch_contact_failures_total",
			"Failed attempts to speak to an overwatch node, by node and reason.", "node", "reason"),
		dropped: counter("gslb_agent_gossip_dropped_total",
			"Packets dropped because they are not what an overwatch node sends, by reason.", "reason"),
	}
	r.MustRegister(m.sent, m.failed, m.connected, m.rtt, m.duplicate, m.rejected, m.contact, m.dropped)
	for _, f := range []frame.Fault{frame.Size, frame.Label, frame.Cipher, frame.Key, frame.Malformed} {
		m.dropped.WithLabelValues(string(f))
	}
	return m
}

// vanish removes the series of a removed node.
func (m *metrics) vanish(node string) {
	of := prometheus.Labels{"node": node}
	for _, counter := range []*prometheus.CounterVec{m.sent, m.failed, m.rejected, m.contact} {
		counter.DeletePartialMatch(of)
	}
	for _, gauge := range []*prometheus.GaugeVec{m.connected, m.rtt, m.duplicate} {
		gauge.DeletePartialMatch(of)
	}
}

// appear creates the series of a node at 0, so that a rate includes the first event.
func (m *metrics) appear(node string) {
	m.sent.WithLabelValues(node)
	m.failed.WithLabelValues(node)
	m.connected.WithLabelValues(node)
	m.duplicate.WithLabelValues(node)
	for _, r := range reasons {
		m.contact.WithLabelValues(node, string(r))
	}
}
