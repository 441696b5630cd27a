package gossip // inside: it looks at options

import (
	"testing"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// An Ack has the same protection as the message: the session's code or a signature.
func TestNode_AcknowledgesInTheSessionWhatCameInIt(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.half = identity.NewExchange()
	a.enrol()
	payload, err := (&wire.Heartbeat{Region: "eu", IntervalMillis: 10000, MissedThreshold: 3,
		Backends: []wire.Backend{testBackend()}}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []bool{false, true} {
		a.seq++
		message := a.session.Seal(identity.AgentToNode,
			identity.Envelope{Major: wire.Major, Minor: wire.Minor, Type: uint8(wire.TypeHeartbeat), Seq: a.seq,
				Payload: payload})
		if stream {
			if err := a.stream(message); err != nil {
				t.Fatal(err)
			}
		} else {
			a.datagram(message)
		}
		if got := n.registry.next(t); got.heartbeat == nil || len(got.heartbeat.Backends) != 1 {
			t.Errorf("the registry was told %+v", got)
		}
		sealed := a.answer()
		var ack wire.Ack
		if !sealed.Authentic(identity.NodeToAgent, a.session) || ack.UnmarshalBinary(sealed.Payload) != nil ||
			ack.AckedSeq != a.seq {
			t.Errorf("answered with %+v", sealed.Envelope)
		}
	}
	a.datagram(a.heartbeat())
	if sealed := a.answer(); sealed.InSession() || !sealed.Verify(identity.NodeToAgent, n.options.Identity.PublicKey) {
		t.Error("the Ack to a signed heartbeat is not signed")
	}
}
