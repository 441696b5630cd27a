package integration_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// What BenchmarkDNS_WhileTheAPIIsPolled asks, and for how long at a time.
const (
	pollNames   = 1000
	pollAskers  = 4
	pollPace    = 2 * time.Millisecond // between two queries of one asker
	pollPhase   = 3 * time.Second
	pollLongest = 2 * time.Second // of one lookup
)

// BenchmarkDNS_WhileTheAPIIsPolled measures lookups while nobody asks the API and while one client reads everything that
// can grow in a loop, in turns. Each iteration is one turn of each; the ratio is of its p99.9, so that what else the
// machine does counts on both sides. busy-ratio is the same with a loop that takes a processor and asks nothing: what
// any load of that size costs lookups on this machine.
func BenchmarkDNS_WhileTheAPIIsPolled(b *testing.B) {
	n := startBench(b, pollNames, netip.MustParseAddrPort("127.0.0.1:9"))
	query, err := new(dns.Msg).SetQuestion(dns.Fqdn(appName), dns.TypeA).Pack()
	if err != nil {
		b.Fatal(err)
	}
	var quiet, polled, ratios, busyRatios []float64
	polls := 0
	for b.Loop() {
		alone := lookups(b, n.DNS.String(), query)
		stop, done := make(chan struct{}), make(chan int)
		go func() { done <- pollEverything(n.API.String(), stop) }()
		beside := lookups(b, n.DNS.String(), query)
		close(stop)
		polls += <-done
		elsewhere := make(chan struct{})
		go spin(elsewhere)
		busy := lookups(b, n.DNS.String(), query)
		close(elsewhere)
		busyRatios = append(busyRatios, busy/alone)
		quiet, polled, ratios = append(quiet, alone), append(polled, beside), append(ratios, beside/alone)
	}
	for name, values := range map[string][]float64{"quiet-p99.9-ms": quiet, "polled-p99.9-ms": polled, "ratio": ratios, "busy-ratio": busyRatios} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
		b.ReportMetric(values[0], name+"-min")
		b.ReportMetric(values[len(values)-1], name+"-max")
	}
	b.ReportMetric(float64(polls)/float64(b.N)/pollPhase.Seconds(), "requests/s")
	b.ReportMetric(0, "ns/op")
}

// lookups asks for one phase and returns the p99.9 in milliseconds.
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

// spin takes a processor.
func spin(stop <-chan struct{}) {
	var stopped atomic.Bool
	go func() {
		<-stop
		stopped.Store(true)
	}()
	for !stopped.Load() {
	}
}

// pollEverything reads what can grow, again and again, and returns how often it did.
func pollEverything(at string, stop <-chan struct{}) (requests int) {
	for {
		for _, path := range []string{
			"servers?limit=1000", "domains?limit=1000", "overwatch/backends?limit=1000", "health/servers?limit=1000", "health/regions", "overwatch/stats", "overrides",
			"metrics/overview", "metrics/history?duration=24h", "audit-logs?limit=1000", "routing/decisions?limit=1000", "routing/flows?limit=1000", "gossip/nodes",
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
