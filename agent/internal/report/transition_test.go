package report // inside: it uses due, maxPending and pending

import (
	"encoding"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/wire"
)

func claims(t *testing.T, got []received) (out []wire.Claim) {
	t.Helper()
	for _, r := range got {
		var m wire.Transition
		if err := m.UnmarshalBinary(r.sealed.Payload); err != nil {
			t.Fatal(err)
		}
		out = append(out, m.Backend.Claim)
	}
	return out
}

func TestLink_TransitionGoesAtOnceAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		b := testBackend()
		b.Claim = wire.ClaimUnhealthy
		begun := time.Now()
		l.queueChange(b)
		after(30 * time.Second)
		got := n.got(wire.TypeTransition, begun)
		if c := claims(t, got); len(c) != 1 || c[0] != wire.ClaimUnhealthy || !got[0].stream {
			t.Fatalf("transitions %v", c)
		}
		if took := got[0].at.Sub(begun); took > 3*oneWay {
			t.Errorf("it took %s", took)
		}
	})
}

func TestLink_TransitionIsRepeatedUntilAcknowledgedOrSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		deaf := true
		n.set(func(n *fakeNode) {
			n.decide = func(r received) encoding.BinaryMarshaler {
				if deaf {
					return nil
				}
				return r.ack()
			}
		})
		begun := time.Now()
		b := testBackend()
		b.Claim = wire.ClaimUnhealthy
		l.queueChange(b)
		after(2 * time.Second)
		if got := n.got(wire.TypeTransition, begun); len(got) != 3 || got[0].stream == got[1].stream {
			t.Errorf("%d transitions in 2 s", len(got))
		}
		superseded := time.Now()
		b.Claim = wire.ClaimHealthy
		l.queueChange(b)
		after(time.Second)
		for _, c := range claims(t, n.got(wire.TypeTransition, superseded)) {
			if c != wire.ClaimHealthy {
				t.Error("what was superseded is repeated")
			}
		}
		n.set(func(*fakeNode) { deaf = false })
		after(15 * time.Second)
		quiet := time.Now()
		after(30 * time.Second)
		if got := n.got(wire.TypeTransition, quiet); len(got) != 0 {
			t.Errorf("%d transitions after the acknowledgement", len(got))
		}
	})
}

func TestLink_HeartbeatCoversEarlierTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.down = true
		n.decide = func(r received) encoding.BinaryMarshaler { // a node that has heard it, but whose word of that is lost
			if r.kind() == wire.TypeTransition {
				return nil
			}
			return r.ack()
		}
		l := startLink(t, n)
		defer l.stop()
		l.queueChange(testBackend())
		after(time.Minute)
		n.set(func(n *fakeNode) { n.down = false })
		after(5 * time.Second)
		if _, waits := l.pending.nextTime(); waits {
			t.Error("a change waits although a later heartbeat was acknowledged")
		}
	})
}

// A node that was unreachable while a backend changed and was then removed receives no message about the backend,
// because it would add the backend.
func TestLink_ChangeOfABackendThatIsGoneIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		var gone atomic.Bool
		l := startLinkWith(t, n, func(o *Options) {
			o.State = func() []wire.Backend {
				if gone.Load() {
					return nil
				}
				return []wire.Backend{testBackend()}
			}
		})
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) { n.down = true })
		after(time.Minute)
		l.queueChange(testBackend())
		after(time.Second)
		gone.Store(true)
		l.restate.Store(true)
		l.wakeUp()
		back := time.Now()
		n.set(func(n *fakeNode) { n.down = false })
		after(30 * time.Second)
		if len(n.got(wire.TypeHeartbeat, back)) == 0 {
			t.Fatal("the node is not back")
		}
		if got := n.got(wire.TypeTransition, back); len(got) != 0 {
			t.Errorf("%d transitions of a backend that is gone", len(got))
		}
		if _, waits := l.pending.nextTime(); waits {
			t.Error("its change still waits")
		}
	})
}

func TestPending_HoldsTheNewestOfEachBackendAndIsBounded(t *testing.T) {
	p, now := newPending(), time.Now()
	b := testBackend()
	for i := range 3 * maxPending {
		b.Port = uint16(i%(2*maxPending) + 1)
		b.Weight = uint16(i)
		p.addChange(b, now)
	}
	if len(p.changes) != maxPending {
		t.Errorf("%d changes wait", len(p.changes))
	}
	sent := 0
	p.sendDue(now, func(b wire.Backend, try int) (uint64, bool) {
		sent++
		if b.Port == 1 && b.Weight != 2*maxPending || try != 0 {
			t.Errorf("try %d of %+v", try, b)
		}
		return uint64(b.Port), false
	})
	b.Port, b.Weight = 2, 9
	p.addChange(b, now)
	p.removeAcknowledged(2) // of what was said of it before
	p.removeAcknowledged(1)
	if len(p.changes) != maxPending-1 || sent != maxPending {
		t.Errorf("%d changes wait, %d were sent", len(p.changes), sent)
	}
	p.removeOlder(now.Add(-1))
	if len(p.changes) == 0 {
		t.Error("an older heartbeat covers a change")
	}
	p.removeOlder(now)
	if _, waits := p.nextTime(); waits {
		t.Error("a later heartbeat does not cover a change")
	}
}
