package report // inside: it uses repeatSoon

import (
	"encoding"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/wire"
)

// standing is a State that the test changes.
type standing struct{ backend atomic.Pointer[wire.Backend] }

func (s *standing) set(change func(*wire.Backend)) {
	b := testBackend()
	change(&b)
	s.backend.Store(&b)
}

func (s *standing) state() []wire.Backend { return []wire.Backend{*s.backend.Load()} }

// startStanding runs a link with a state that the test changes.
func startStanding(t *testing.T, n *fakeNode) (*testLink, *standing) {
	s := &standing{}
	s.set(func(*wire.Backend) {})
	l := startLinkWith(t, n, func(o *Options) { o.State = s.state })
	return l, s
}

func TestLink_WarningIsSaidAtOnceAndRepeatedByAHeartbeatSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l, s := startStanding(t, n)
		defer l.stop()
		after(11 * time.Second) // behind a heartbeat
		begun := time.Now()
		s.set(func(b *wire.Backend) { b.Warnings.CPUMillis = 30_000 })
		l.warned.Store(true)
		l.wakeUp()
		after(100 * time.Millisecond)
		got := n.got(wire.TypeSignal, begun)
		if len(got) != 1 || !got[0].stream {
			t.Fatalf("%d signals", len(got))
		}
		var m wire.Signal
		if err := m.UnmarshalBinary(got[0].sealed.Payload); err != nil || len(m.Backends) != 1 ||
			m.Backends[0].Warnings.CPUMillis != 30_000 {
			t.Errorf("%+v, %v", m, err)
		}
		after(repeatSoon)
		beats := n.got(wire.TypeHeartbeat, begun)
		if len(beats) != 1 {
			t.Fatalf("%d heartbeats within %s", len(beats), repeatSoon)
		}
		var beat wire.Heartbeat
		if err := beat.UnmarshalBinary(beats[0].sealed.Payload); err != nil || beat.Backends[0].Warnings.CPUMillis != 30_000 {
			t.Errorf("%+v, %v", beat, err)
		}
		s.set(func(*wire.Backend) {})
		l.warned.Store(true)
		l.wakeUp()
		after(100 * time.Millisecond)
		if got = n.got(wire.TypeSignal, begun); len(got) != 2 || len(got[1].sealed.Payload) != 0 {
			t.Errorf("%d signals, the end of the warning should be one without backends", len(got))
		}
	})
}

func TestLink_DrainIsSaidAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l, s := startStanding(t, n)
		defer l.stop()
		after(5 * time.Second)
		s.set(func(b *wire.Backend) { b.Draining, b.DrainMillis = true, 5000 })
		l.drained.Store(true)
		l.wakeUp()
		after(100 * time.Millisecond)
		got := n.got(wire.TypeDrain, time.Time{})
		var m wire.Drain
		if len(got) != 1 || m.UnmarshalBinary(got[0].sealed.Payload) != nil || m.OverMillis != 5000 {
			t.Errorf("%d drains, %+v", len(got), m)
		}
	})
}

func TestLink_BeforeTheFirstHeartbeatNothingIsUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.decide = func(r received) encoding.BinaryMarshaler { return r.reject(wire.CodeWrongToken) }
		l, s := startStanding(t, n)
		defer l.stop()
		after(time.Second)
		s.set(func(b *wire.Backend) { b.Warnings.CPUMillis = 30_000 })
		l.warned.Store(true)
		l.wakeUp()
		after(time.Minute)
		if got := n.got(wire.TypeSignal, time.Time{}); len(got) != 0 {
			t.Errorf("%d signals to a node that does not know the agent", len(got))
		}
	})
}

func TestLink_TransitionThatIsRepeatedHasTheWarningsOfTheMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l, s := startStanding(t, n)
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) { n.silent = true })
		begun := time.Now()
		l.queueChange(testBackend())
		after(100 * time.Millisecond)
		s.set(func(b *wire.Backend) { b.Warnings.MemoryMillis, b.Draining, b.DrainMillis = 7, true, 8 })
		after(time.Second)
		got := n.got(wire.TypeTransition, begun)
		var first, last wire.Transition
		if len(got) < 2 || first.UnmarshalBinary(got[0].sealed.Payload) != nil ||
			last.UnmarshalBinary(got[len(got)-1].sealed.Payload) != nil {
			t.Fatalf("%d transitions", len(got))
		}
		if first.Backend.Warnings.MemoryMillis != 0 || last.Backend.Warnings.MemoryMillis != 7 {
			t.Errorf("first %+v, last %+v", first.Backend.Warnings, last.Backend.Warnings)
		}
		if first.Backend.Draining || !last.Backend.Draining || last.Backend.DrainMillis != 8 {
			t.Errorf("a drain that began meanwhile: first %+v, last %+v", first.Backend, last.Backend)
		}
	})
}
