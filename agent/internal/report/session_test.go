package report // inside: it uses session and status

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// coded counts the heartbeats since a time that were authenticated by a session, and the signed heartbeats.
func (n *fakeNode) coded(since time.Time) (coded, signed int) {
	for _, r := range n.got(wire.TypeHeartbeat, since) {
		if r.sealed.InSession() {
			coded++
		} else {
			signed++
		}
	}
	return coded, signed
}

func TestSession_SparesHeartbeatsTheirSignaturesAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		after(time.Minute)
		l.queueChange(testBackend())
		after(time.Minute)
		if coded, signed := n.coded(time.Time{}); coded < 11 || signed != 0 {
			t.Errorf("%d heartbeats in the session, %d signed", coded, signed)
		}
		n.restart()
		again := time.Now()
		after(30 * time.Second)
		if coded, _ := n.coded(again); coded < 2 || !l.status.read().Connected {
			t.Errorf("%d heartbeats in the session with the node's next process, state %+v", coded, l.status.read())
		}
		l.stop()
		for _, kind := range []wire.Type{wire.TypeEnrol, wire.TypeTransition, wire.TypeDeregister} {
			got := n.got(kind, time.Time{})
			if len(got) == 0 {
				t.Errorf("no %s", kind)
			}
			for _, r := range got {
				if r.sealed.InSession() {
					t.Errorf("a %s is not signed", kind)
				}
			}
		}
	})
}

// The agent rejects a Hello without a share, or with a share of low order, and sends no Enrol to its node.
func TestSession_AHelloWithoutUsableShareIsRefused(t *testing.T) {
	for name, share := range map[string]identity.Share{"none": {}, "low order": {1}} {
		synctest.Test(t, func(t *testing.T) {
			n := newFakeNode(t)
			n.share = &share
			l := startLink(t, n)
			defer l.stop()
			after(time.Minute)
			if s := l.status.read(); s.Connected || !strings.Contains(s.LastError, "version 0.9.0 or later") {
				t.Errorf("%s: %+v", name, s)
			}
			if got := n.got(wire.TypeEnrol, time.Time{}); len(got) != 0 {
				t.Errorf("%s: %d Enrols", name, len(got))
			}
		})
	}
}

// A node that has lost the session, or has another session, receives the signed repetition of each heartbeat.
func TestSession_ThatTheNodeHasLostIsHealedBySignatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(11 * time.Second)
		n.set(func(n *fakeNode) { n.session = nil })
		lost := time.Now()
		after(time.Minute)
		if _, signed := n.coded(lost); signed < 5 || !l.status.read().Connected {
			t.Errorf("%d signed heartbeats, state %+v", signed, l.status.read())
		}
		if l.count(t, "gslb_agent_heartbeat_failures_total", "") != 0 {
			t.Error("failures are counted although each heartbeat was taken")
		}
	})
}

func TestSession_AcksOfOthersAreNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		beat := n.got(wire.TypeHeartbeat, time.Time{})[0]
		n.set(func(n *fakeNode) { n.silent = true })
		after(time.Minute)
		if l.status.read().Connected {
			t.Fatal("connected to a silent node")
		}
		stranger := identity.NewExchange()
		forged, err := stranger.Agree(identity.Pairing{Agent: beat.sealed.KeyID, Node: n.id.KeyID, Boot: n.nonce, Epoch: 77,
			AgentShare: stranger.Share(), NodeShare: n.half.Share()})
		if err != nil {
			t.Fatal(err)
		}
		newest := n.got(wire.TypeHeartbeat, time.Time{})
		for _, m := range []*wire.Ack{newest[len(newest)-1].ack(), {AckedType: wire.TypeEnrol, AckedSeq: 1 << 60}} {
			payload, err := m.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			e := identity.Envelope{Major: wire.Major, Type: uint8(wire.TypeAck), Payload: payload}
			l.queueAnswer(forged.Seal(identity.NodeToAgent, e))
			l.queueAnswer(n.session.Seal(identity.AgentToNode, e))
			after(50 * time.Millisecond)
			if l.status.read().Connected {
				t.Fatalf("the Ack to a %s is believed", m.AckedType)
			}
		}
	})
}
