package check_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

// The numbers below are of whole probes: the server's work in the same process is
// part of them, about half.
func BenchmarkProbe(b *testing.B) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	plain, secured := httptest.NewServer(page), httptest.NewTLSServer(page)
	b.Cleanup(plain.Close)
	b.Cleanup(secured.Close)
	for _, c := range []struct {
		name   string
		kind   check.Type
		server *httptest.Server
	}{{"tcp", check.TCP, plain}, {"http", check.HTTP, plain}, {"https", check.HTTPS, secured}} {
		b.Run(c.name, func(b *testing.B) {
			spec := check.Spec{Type: c.kind, Path: "/health", Interval: time.Second, Timeout: time.Second,
				FailureThreshold: 1, SuccessThreshold: 1, InsecureSkipVerify: true}
			prober, err := check.NewProber(spec, netip.MustParseAddrPort(c.server.Listener.Addr().String()), "gslb/bench")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r := prober.Probe(b.Context()); r.Outcome != check.Success {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

// A node holds one prober per backend.
func BenchmarkNewProber(b *testing.B) {
	spec := check.Spec{Type: check.HTTP, Path: "/health", Interval: time.Second, Timeout: time.Second,
		FailureThreshold: 1, SuccessThreshold: 1}
	backend := netip.MustParseAddrPort("192.0.2.1:80")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := make([]*check.Prober, 0, 10_000)
	for b.Loop() {
		prober, err := check.NewProber(spec, backend, "gslb/bench")
		if err != nil {
			b.Fatal(err)
		}
		if len(kept) < cap(kept) {
			kept = append(kept, prober)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(kept)), "B/prober")
	runtime.KeepAlive(kept)
}
