package gossip // inside: it uses connection, newConnections and streamGrace

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/frame"
)

func pipe(t *testing.T) net.Conn {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours
}

// alive reports whether the node has not closed this end of a pipe.
func alive(c net.Conn) bool { return c.SetDeadline(time.Time{}) == nil }

// Fault 19.
func TestSlots_AtTheLimitOfAnAddress(t *testing.T) {
	host, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	s, start := newConnections(), time.Now()
	var open []*connection
	for i := range maxStreamsPerHost {
		o, fault := s.admit(pipe(t), host, start.Add(time.Duration(i)))
		if fault != frame.None {
			t.Fatal(fault)
		}
		open = append(open, o)
	}
	if _, fault := s.admit(pipe(t), host, start.Add(streamGrace/2)); fault != dropAddressLimit {
		t.Errorf("before the others had their time: fault %q", fault)
	}
	if _, fault := s.admit(pipe(t), other, start.Add(streamGrace/2)); fault != frame.None {
		t.Errorf("another address: fault %q", fault)
	}
	s.complete(open[0])
	if _, fault := s.admit(pipe(t), host, start.Add(2*streamGrace)); fault != frame.None {
		t.Errorf("after the others had their time: fault %q", fault)
	}
	if !alive(open[0].conn) || alive(open[1].conn) || !alive(open[2].conn) {
		t.Error("not the oldest unfinished stream gave way")
	}
	if s.reason(open[1], frame.Incomplete) != dropEvicted || s.reason(open[2], frame.Incomplete) != frame.Incomplete {
		t.Error("the reason of the end is wrong")
	}
	for _, o := range open {
		s.complete(o)
		s.release(o)
		s.release(o)
	}
	if s.count() != 2 || s.perHost[trust.HostOf(host)] != 1 {
		t.Errorf("%d streams are open, %d of the address", s.count(), s.perHost[trust.HostOf(host)])
	}
}

// Fault 19.
func TestSlots_AtTheLimitOfAll(t *testing.T) {
	s, start := newConnections(), time.Now()
	addr := netip.MustParseAddr("192.0.2.0")
	for range maxStreams {
		addr = addr.Next()
		o, fault := s.admit(pipe(t), addr, start)
		if fault != frame.None {
			t.Fatal(fault)
		}
		s.complete(o)
	}
	if _, fault := s.admit(pipe(t), addr.Next(), start.Add(time.Hour)); fault != dropStreamLimit {
		t.Errorf("fault %q", fault)
	}
	s.closeAll()
	if _, fault := s.admit(pipe(t), addr.Next(), start); fault != frame.Incomplete {
		t.Errorf("after the end: fault %q", fault)
	}
}
