package gossip

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// metrics are the metrics of agents' messages.
type metrics struct {
	messages *prometheus.CounterVec
	refused  *prometheus.CounterVec
	claims   *prometheus.CounterVec
	handling prometheus.Histogram
}

func newMetrics() *metrics {
	return &metrics{
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_gossip_messages_total", Help: "Agents' messages that were believed, by type.",
		}, []string{"type"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_gossip_refused_total", Help: "Agents' messages that were not believed, by reason.",
		}, []string{"code"}),
		claims: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_gossip_claims_refused_total",
			Help: "Services and backends in believed messages that were not taken, by reason.",
		}, []string{"code"}),
		handling: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gslb_gossip_handling_seconds", Help: "Time from a message's arrival until it was applied.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1, 5},
		}),
	}
}

// register makes all metrics of the package known. Label values that can occur exist from the start, so that a rate can
// be computed from the first event on.
func (n *Node) register(dropped *prometheus.CounterVec) error {
	for _, t := range []wire.Type{wire.TypeEnrol, wire.TypeHeartbeat, wire.TypeTransition, wire.TypeDeregister,
		wire.TypeSignal, wire.TypeDrain} {
		n.metrics.messages.WithLabelValues(t.String())
	}
	for _, r := range []trust.Reason{trust.ReasonMalformed, trust.ReasonUnknownKey, trust.ReasonUnknownType,
		trust.ReasonReplay, trust.ReasonSignature} {
		n.metrics.refused.WithLabelValues(string(r))
	}
	for c := wire.CodeWrongToken; c <= wire.CodeLocked; c++ {
		n.metrics.refused.WithLabelValues(c.String())
		n.metrics.claims.WithLabelValues(c.String())
	}
	depth := func(lane string, read func() int) prometheus.Collector {
		return gauge("gslb_gossip_queue_depth", "Messages that wait, by lane.", prometheus.Labels{"lane": lane}, read)
	}
	collectors := []prometheus.Collector{
		dropped, n.metrics.messages, n.metrics.refused, n.metrics.claims, n.metrics.handling,
		gauge("gslb_gossip_streams", "Streams open now.", nil, n.transport.connections.count),
		gauge("gslb_gossip_members", "Overwatch nodes that are alive, this one included.", nil, n.members.alive),
		depth("enrol", func() int { enrol, _, _ := n.intake.waiting(); return enrol }),
		depth("urgent", func() int { _, urgent, _ := n.intake.waiting(); return urgent }),
		depth("heartbeat", func() int { _, _, plain := n.intake.waiting(); return plain }),
	}
	for _, c := range collectors {
		if err := n.options.Registerer.Register(c); err != nil {
			return fmt.Errorf("registering the metrics of gossip: %w", err)
		}
	}
	return nil
}

func gauge(name, help string, labels prometheus.Labels, read func() int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return float64(read()) })
}
