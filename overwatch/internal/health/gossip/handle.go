package gossip

import (
	"context"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// handleMessage authenticates a message, applies it and answers it.
func (n *Node) handleMessage(ctx context.Context, a arrival) {
	n.transport.greetings.remove(a.head.KeyID, a.head.Epoch)
	msg, refusal := n.options.Trust.Open(a.message, a.from.addr.Addr())
	if refusal != nil {
		n.metrics.refused.WithLabelValues(string(refusal.Reason)).Inc()
		n.options.Logger.Debug().Str("from", a.from.addr.String()).Err(refusal).Msg("message refused")
		if !refusal.Silent {
			reject := refusal.Reject()
			n.sendAnswer(a, wire.TypeReject, &reject, nil)
			n.options.Refused(Refused{
				From: a.from.addr.Addr(), Stream: a.from.stream, Known: refusal.Known, AgentID: refusal.AgentID,
				Claim: wire.RefusedClaim{Service: refusal.Service, Code: refusal.Code},
			})
		}
		return
	}
	n.transport.paths.recordVerified(a.head.KeyID, a.from, time.Now())
	msg.Agent = msg.Agent.WithAddress(n.transport.paths.provedAddress(a.head.KeyID, a.head.Epoch, a.from))
	n.skews.checkClock(msg.Agent.ID(), msg.SentAtMillis, time.Now())
	if !n.limits.allowMessage(msg.Agent.ID(), msg.Type, time.Now()) {
		n.intake.drops.count(dropAgentRate, a.from.addr)
		return
	}
	outcome, introduced, err := n.apply(ctx, msg)
	if err != nil {
		if ctx.Err() == nil {
			n.metrics.refused.WithLabelValues(string(trust.ReasonMalformed)).Inc()
			n.options.Logger.Debug().Str("agent", msg.Agent.ID()).Err(err).Msg("message refused")
		}
		return
	}
	if outcome.Deferred { // the last-seen time of the agent is updated, and it receives an Ack
		n.intake.drops.count(dropAgentRate, a.from.addr)
	}
	n.metrics.messages.WithLabelValues(msg.Type.String()).Inc()
	n.metrics.handling.Observe(time.Since(a.at).Seconds())
	n.acknowledge(a, msg, outcome, introduced)
}

// apply passes an accepted message to the registry. introduced contains the introductions for the Ack of a heartbeat.
func (n *Node) apply(ctx context.Context, msg trust.Message) (o registry.Outcome, introduced []wire.NodeCertificate,
	err error) {
	if msg.Type == wire.TypeHeartbeat {
		return n.applyHeartbeat(ctx, msg)
	}
	o, err = n.applyRareMessage(ctx, msg)
	return o, nil, err
}

// applyRareMessage is apply for a message that is not a heartbeat.
func (n *Node) applyRareMessage(ctx context.Context, msg trust.Message) (registry.Outcome, error) {
	switch msg.Type {
	case wire.TypeEnrol: // Trust.Open has pinned the agent
		return registry.Outcome{Refused: msg.Refused}, nil
	case wire.TypeTransition:
		var m wire.Transition
		if err := m.UnmarshalBinary(msg.Payload); err != nil {
			return registry.Outcome{}, err
		}
		convertCheckTime(&m.Backend, msg.SentAtMillis)
		return n.options.Registry.ApplyTransition(ctx, msg.Agent, &m)
	case wire.TypeSignal:
		var m wire.Signal
		if err := m.UnmarshalBinary(msg.Payload); err != nil {
			return registry.Outcome{}, err
		}
		return n.options.Registry.ApplyWarnings(ctx, msg.Agent, &m)
	case wire.TypeDrain:
		var m wire.Drain
		if err := m.UnmarshalBinary(msg.Payload); err != nil {
			return registry.Outcome{}, err
		}
		return n.options.Registry.ApplyDrain(ctx, msg.Agent, &m)
	case wire.TypeDeregister:
		return registry.Outcome{}, n.options.Registry.ApplyGoodbye(ctx, msg.Agent)
	}
	return registry.Outcome{}, fmt.Errorf("messages of type %s are not accepted", msg.Type)
}

// applyHeartbeat decodes a heartbeat and passes it to the registry. It reuses the memory of heartbeats, which may have
// many backends.
func (n *Node) applyHeartbeat(ctx context.Context, msg trust.Message) (_ registry.Outcome,
	introduced []wire.NodeCertificate, err error) {
	m := n.heartbeats.Get().(*wire.Heartbeat)
	if err := m.UnmarshalBinary(msg.Payload); err != nil {
		return registry.Outcome{}, nil, err
	}
	n.rejections.replaceReport(msg.Agent.ID(), m, time.Now())
	introduced = n.introductions(m.Rejected)
	for i := range m.Backends {
		convertCheckTime(&m.Backends[i], msg.SentAtMillis)
	}
	outcome, err := n.options.Registry.ApplyHeartbeat(ctx, msg.Agent, m)
	if err == nil { // otherwise the registry may still use m
		clear(m.Backends)
		n.heartbeats.Put(m)
	}
	return outcome, introduced, err
}

// convertCheckTime converts the time of a backend's last check from the clock of its agent to the clock of this node.
// sentAtMillis is the sending time according to the clock of the agent.
func convertCheckTime(b *wire.Backend, sentAtMillis int64) {
	if b.CheckedAtMillis != 0 {
		ago := max(sentAtMillis-int64(b.CheckedAtMillis), 0)
		b.CheckedAtMillis = uint64(max(time.Now().UnixMilli()-ago, 1))
	}
}

// acknowledge answers a message with an Ack that lists the rejected backends.
func (n *Node) acknowledge(a arrival, msg trust.Message, outcome registry.Outcome,
	introduced []wire.NodeCertificate) {
	for _, claim := range outcome.Refused {
		n.metrics.claims.WithLabelValues(claim.Code.String()).Inc()
		n.options.Refused(Refused{From: a.from.addr.Addr(), Stream: a.from.stream, Known: true, AgentID: msg.Agent.ID(),
			Claim: claim})
	}
	n.sendAnswer(a, wire.TypeAck, &wire.Ack{
		AckedType: msg.Type, AckedSeq: msg.Seq, Services: msg.Agent.Services(), Refused: outcome.Refused,
		Duplicate: msg.Duplicate, Introduced: introduced,
	}, msg.Session)
}
