package httpapi // inside: it looks at http

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// discarding is a ResponseWriter that counts.
type discarding struct {
	header http.Header
	status int
	octets int
}

func (d *discarding) Header() http.Header         { return d.header }
func (d *discarding) WriteHeader(status int)      { d.status = status }
func (d *discarding) Write(p []byte) (int, error) { d.octets += len(p); return len(p), nil }

// BenchmarkRead measures the creation of the largest page of each list, among 1 000 servers, without its transmission.
func BenchmarkRead(b *testing.B) {
	w := newWorld(b)
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf("s%04d.example:192.0.2.1:80", i))
	}
	w.declare(ids...)
	for _, path := range []string{
		"servers?limit=1000", "domains?limit=1000", "overwatch/backends?limit=1000", "health/servers?limit=1000",
		"health/regions", "overwatch/stats", "overrides",
		"metrics/overview", "metrics/history?duration=24h", "audit-logs?limit=1000", "routing/decisions?limit=1000",
		"routing/flows?limit=1000", "gossip/nodes",
	} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("GET", "http://localhost/api/v1/"+path, nil)
				r.RemoteAddr = "127.0.0.1:999"
				out := &discarding{header: http.Header{}}
				w.server.http.Handler.ServeHTTP(out, r)
				if out.status != 200 {
					b.Fatal(out.status)
				}
				b.ReportMetric(float64(out.octets), "octets")
			}
		})
	}
}
