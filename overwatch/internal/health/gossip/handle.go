package gossip

import (
	"context"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// handle opens one message, applies it and answers.
func (n *Node) handle(ctx context.Context, a arrival) {
	n.transport.greetings.spoke(a.head.KeyID, a.head.Epoch)
	msg, refusal := n.options.Trust.Open(a.message, a.from.addr.Addr())
	if refusal != nil {
		n.metrics.refused.WithLabelValues(string(refusal.Reason)).Inc()
		n.options.Logger.Debug().Str("from", a.from.addr.String()).Err(refusal).Msg("message refused")
		if !refusal.Silent {
			reject := refusal.Reject()
			n.answer(a, wire.TypeReject, &reject, nil)
			n.options.Refused(Refused{
				From: a.from.addr.Addr(), Stream: a.from.stream, Known: refusal.Known, AgentID: refusal.AgentID,
				Claim: wire.RefusedClaim{Service: refusal.Service, Code: refusal.Code},
			})
		}
		return
	}
	n.transport.paths.proved(a.head.KeyID, a.from, time.Now())
	msg.Agent = msg.Agent.WithAddress(n.transport.paths.proven(a.head.KeyID, a.head.Epoch, a.from))
	n.skews.note(msg.Agent.ID(), msg.SentAtMillis, time.Now())
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
	if outcome.Deferred { // the agent was heard all the same, and gets its Ack
		n.intake.drops.count(dropAgentRate, a.from.addr)
	}
	n.metrics.messages.WithLabelValues(msg.Type.String()).Inc()
	n.metrics.handling.Observe(time.Since(a.at).Seconds())
	n.acknowledge(a, msg, outcome, introduced)
}

// apply passes an accepted message to the registry. introduced are the introductions for the Ack of a heartbeat.
func (n *Node) apply(ctx context.Context, msg trust.Message) (o registry.Outcome, introduced []wire.NodeCertificate,
	err error) {
	if msg.Type == wire.TypeHeartbeat {
		return n.heartbeat(ctx, msg)
	}
	o, err = n.applyOther(ctx, msg)
	return o, nil, err
}

// applyOther is apply for a message that is not a heartbeat.
func (n *Node) applyOther(ctx context.Context, msg trust.Message) (registry.Outcome, error) {
	switch msg.Type {
	case wire.TypeEnrol: // Trust.Open has pinned the agent
		return registry.Outcome{Refused: msg.Refused}, nil
	case wire.TypeTransition:
		var m wire.Transition
		if err := m.UnmarshalBinary(msg.Payload); err != nil {
			return registry.Outcome{}, err
		}
		byOurClock(&m.Backend, msg.SentAtMillis)
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
	return registry.Outcome{}, fmt.Errorf("a node takes no %s", msg.Type)
}

// heartbeat decodes a heartbeat and hands it to the registry. It may have many backends, so the memory for them is used
// again.
func (n *Node) heartbeat(ctx context.Context, msg trust.Message) (_ registry.Outcome,
	introduced []wire.NodeCertificate, err error) {
	m := n.heartbeats.Get().(*wire.Heartbeat)
	if err := m.UnmarshalBinary(msg.Payload); err != nil {
		return registry.Outcome{}, nil, err
	}
	n.rejections.report(msg.Agent.ID(), m, time.Now())
	introduced = n.introductions(m.Rejected)
	for i := range m.Backends {
		byOurClock(&m.Backends[i], msg.SentAtMillis)
	}
	outcome, err := n.options.Registry.ApplyHeartbeat(ctx, msg.Agent, m)
	if err == nil { // else the registry may still use it
		clear(m.Backends)
		n.heartbeats.Put(m)
	}
	return outcome, introduced, err
}

// byOurClock moves the time of a backend's last check from the clock of its agent to that of this node. The message was
// sent at sentAtMillis by the former.
func byOurClock(b *wire.Backend, sentAtMillis int64) {
	if b.CheckedAtMillis != 0 {
		ago := max(sentAtMillis-int64(b.CheckedAtMillis), 0)
		b.CheckedAtMillis = uint64(max(time.Now().UnixMilli()-ago, 1))
	}
}

// acknowledge answers a message with an Ack, which lists the claims that were refused.
func (n *Node) acknowledge(a arrival, msg trust.Message, outcome registry.Outcome,
	introduced []wire.NodeCertificate) {
	for _, claim := range outcome.Refused {
		n.metrics.claims.WithLabelValues(claim.Code.String()).Inc()
		n.options.Refused(Refused{From: a.from.addr.Addr(), Stream: a.from.stream, Known: true, AgentID: msg.Agent.ID(),
			Claim: claim})
	}
	n.answer(a, wire.TypeAck, &wire.Ack{
		AckedType: msg.Type, AckedSeq: msg.Seq, Services: msg.Agent.Services(), Refused: outcome.Refused,
		Duplicate: msg.Duplicate, Introduced: introduced,
	}, msg.Session)
}
