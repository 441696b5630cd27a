package monitor // inside: it calls presence.update

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"gslb.internal/agent/internal/sockets"
)

// processorTime returns the processor time of this process in user and system mode.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWatchSockets measures the list of sockets and its comparison, for 64 watched backends. %core is the
// percentage of a core for one list every 100 ms. It must be less than 0.2.
func BenchmarkWatchSockets(b *testing.B) {
	const backends = 64
	var watches []*watch
	for range backends {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close() }) // nothing can be lost
		at := netip.MustParseAddrPort(l.Addr().String())
		watches = append(watches, &watch{backend: Backend{Address: at.Addr(), Port: at.Port(), WatchSocket: true},
			hurried: make(chan struct{}, 1)})
	}
	l, err := sockets.Open()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() }) // nothing can be lost
	p := presence{}
	b.ReportAllocs()
	before, rounds := processorTime(b), 0
	for b.Loop() {
		if err := p.update(l, watches, isLocal); err != nil {
			b.Fatal(err)
		}
		rounds++
	}
	if len(p) != backends {
		b.Fatalf("%d of %d sockets are listed", len(p), backends)
	}
	each := (processorTime(b) - before) / time.Duration(rounds)
	b.ReportMetric(float64(each.Nanoseconds()), "cpu-ns/op")
	b.ReportMetric(100*float64(each)/float64(socketInterval), "%core")
}
