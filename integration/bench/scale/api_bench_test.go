package scale_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// The names, clients and durations of BenchmarkDNS_WhileTheAPIIsPolled.
const (
	pollNames   = 1000
	pollAskers  = 4
	pollPace    = 2 * time.Millisecond // between two queries of a client
	pollPhase   = 3 * time.Second
	pollLongest = 2 * time.Second // maximum duration of a lookup
)

// BenchmarkDNS_WhileTheAPIIsPolled measures lookups of a node in alternating phases: without API requests, with a
// client that reads all unbounded lists of the node's API in a loop, and with a client that reads them from a second,
// equal node. All processes share the processors, so the third phase shows the cost of such a client regardless of the
// node. of-polling is the ratio of the p99.9 in the second phase to the p99.9 in the third phase.
func BenchmarkDNS_WhileTheAPIIsPolled(b *testing.B) {
	n, other := startBench(b, pollNames, netip.MustParseAddrPort("127.0.0.1:9")),
		startBench(b, pollNames, netip.MustParseAddrPort("127.0.0.1:9"))
	query, err := new(dns.Msg).SetQuestion(dns.Fqdn(testbed.AppName), dns.TypeA).Pack()
	if err != nil {
		b.Fatal(err)
	}
	beside := func(polled *harness.Node) (p999 float64, requests int) {
		stop, done := make(chan struct{}), make(chan int)
		go func() { done <- pollEverything(polled.API.String(), stop) }()
		p999 = lookups(b, n.DNS.String(), query)
		close(stop)
		return p999, <-done
	}
	figures := map[string][]float64{}
	for b.Loop() {
		quiet := lookups(b, n.DNS.String(), query)
		polled, requests := beside(n)
		elsewhere, others := beside(other)
		for name, value := range map[string]float64{
			"quiet-p99.9-ms": quiet, "polled-p99.9-ms": polled, "other-polled-p99.9-ms": elsewhere,
			"of-client": elsewhere / quiet, "of-polling": polled / elsewhere,
			"requests/s": float64(requests) / pollPhase.Seconds(), "other-requests/s": float64(others) / pollPhase.Seconds(),
		} {
			figures[name] = append(figures[name], value)
		}
	}
	for name, values := range figures {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
		b.ReportMetric(values[0], name+"-min")
		b.ReportMetric(values[len(values)-1], name+"-max")
	}
	b.ReportMetric(0, "ns/op")
}

// lookups sends queries for a phase and returns the p99.9 in milliseconds.
func lookups(b *testing.B, at string, query []byte) float64 {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	for range pollAskers {
		all.Go(func() {
			conn, err := net.Dial("udp", at)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			var mine []time.Duration
			answer := make([]byte, 4096)
			tick := time.NewTicker(pollPace)
			defer tick.Stop()
			for end := time.Now().Add(pollPhase); time.Now().Before(end); <-tick.C {
				began := time.Now()
				_ = conn.SetDeadline(began.Add(pollLongest))
				_, err := conn.Write(query)
				if err == nil {
					_, err = conn.Read(answer)
				}
				if err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(began))
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	if len(took) == 0 {
		b.Fatal("no lookup was answered")
	}
	slices.Sort(took)
	return float64(took[len(took)*999/1000].Microseconds()) / 1000
}

// pollEverything repeatedly reads all unbounded lists, and returns the number of rounds.
func pollEverything(at string, stop <-chan struct{}) (requests int) {
	for {
		for _, path := range []string{
			"servers?limit=1000", "domains?limit=1000", "overwatch/backends?limit=1000", "health/servers?limit=1000",
			"health/regions", "overwatch/stats", "overrides",
			"metrics/overview", "metrics/history?duration=24h", "audit-logs?limit=1000", "routing/decisions?limit=1000",
			"routing/flows?limit=1000", "gossip/nodes",
		} {
			select {
			case <-stop:
				return requests
			default:
			}
			resp, err := http.Get(fmt.Sprintf("http://%s/api/v1/%s", at, path))
			if err != nil {
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			requests++
		}
	}
}
