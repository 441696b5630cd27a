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
			Name: "gslb_gossip_messages_total", Help: "Authenticated messages of agents, by type.",
		}, []string{"type"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_gossip_refused_total", Help: "Rejected messages of agents, by reason.",
		}, []string{"code"}),
		claims: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gslb_gossip_claims_refused_total",
			Help: "Rejected services and backends in authenticated messages, by reason.",
		}, []string{"code"}),
		handling: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gslb_gossip_handling_seconds", Help: "Time from the arrival of a message to its application.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1, 5},
		}),
	}
}

// register registers the metrics of the package. All label values exist from the start, so that rates include the first
// event.
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
		return gauge("gslb_gossip_queue_depth", "Queued messages, by class.", prometheus.Labels{"lane": lane}, read)
	}
	collectors := []prometheus.Collector{
		dropped, n.metrics.messages, n.metrics.refused, n.metrics.claims, n.metrics.handling,
		gauge("gslb_gossip_streams", "Open streams.", nil, n.transport.connections.count),
		gauge("gslb_gossip_members", "Live overwatch nodes, including this node.", nil, n.members.alive),
		depth("enrol", func() int { enrol, _, _ := n.intake.depths(); return enrol }),
		depth("urgent", func() int { _, urgent, _ := n.intake.depths(); return urgent }),
		depth("heartbeat", func() int { _, _, plain := n.intake.depths(); return plain }),
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
