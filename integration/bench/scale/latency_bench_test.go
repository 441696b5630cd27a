package scale_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// benchCheck is the interval and the timeout of checks in the benchmark.
const benchCheck = 100 * time.Millisecond

// BenchmarkFailover_CheckToAnswer measures, with real programs, the time from the failed answer of a backend to a check
// until a node's DNS answer excludes the backend: the agent's decision, the message, trust, registry, publication and
// one lookup. The node's own checks are off, so only the agent report can exclude the backend. The promise is less than
// 100 ms after the check.
func BenchmarkFailover_CheckToAnswer(b *testing.B) {
	for _, names := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("names=%d", names), func(b *testing.B) { benchmarkFailover(b, names) })
	}
}

func benchmarkFailover(b *testing.B, names int) {
	backend := newSwitched()
	server := httptest.NewUnstartedServer(backend)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	at := listener.Addr().(*net.TCPAddr).AddrPort()

	n := startBench(b, names, at)
	client, query := &dns.Client{Timeout: time.Second}, new(dns.Msg).SetQuestion(dns.Fqdn(testbed.AppName), dns.TypeA)
	answers := func() bool {
		r, _, err := client.Exchange(query, n.DNS.String())
		return err == nil && len(r.Answer) == 1
	}
	var took []time.Duration
	for b.Loop() {
		backend.set(true)
		waitFor(b, answers)
		failed := backend.set(false)
		begin := <-failed
		for answers() {
			if time.Since(begin) > 5*time.Second {
				b.Fatal("the answer has not changed within 5 s")
			}
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "median-ms")
	b.ReportMetric(ms(took[min(len(took)*99/100, len(took)-1)]), "p99-ms")
	b.ReportMetric(ms(took[len(took)-1]), "max-ms")
}

// startBench starts a node with many load-balanced names, and an agent with one backend.
func startBench(b *testing.B, names int, at netip.AddrPort) *harness.Node {
	timing := harness.Fast()
	timing.CheckInterval, timing.CheckTimeout, timing.FailureThreshold, timing.SuccessThreshold = benchCheck, benchCheck,
		1, 1
	domains := []harness.Domain{{Name: testbed.AppName, RoutingAlgorithm: "round-robin", Regions: []string{"eu"}, TTL: 5}}
	var static []harness.Server
	for i := range names - 1 {
		name := fmt.Sprintf("d%05d.test.gslb.test", i)
		domains = append(domains, harness.Domain{Name: name, RoutingAlgorithm: "round-robin", Regions: []string{"eu"},
			TTL: 5})
		static = append(static, harness.Server{Service: name, Address: at.Addr(), Port: at.Port(), Weight: 100,
			HealthCheck: timing.Check()})
	}
	c := testbed.NewCluster(b, timing, domains...)
	n := testbed.AddNode(b, c, "ow-1", "eu", map[string][]harness.Server{"eu": static})
	n.File.DNS.Zones = []string{"test.gslb.test"}
	n.File.Overwatch.Validation.Enabled = false
	a, err := c.AddAgent("agent-1", "eu", []*harness.Node{n}, []harness.AgentBackend{{
		Service: testbed.AppName, Address: at.Addr(), Port: at.Port(), Weight: 100, HealthCheck: timing.Check(),
	}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), testbed.StartBound)
	defer cancel()
	for _, start := range []func() error{n.Start, func() error { return n.Ready(ctx) }, a.Start} {
		if err := start(); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

func waitFor(b *testing.B, cond func() bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), testbed.StartBound)
	defer cancel()
	err := harness.Until(ctx, "the backend to be answered", func(context.Context) error {
		if !cond() {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// switched is a backend with a switch for the result of its checks.
type switched struct {
	mu     sync.Mutex
	well   bool
	failed chan time.Time // receives the time of the first failing answer since set(false); then nil
}

func newSwitched() *switched { return &switched{} }

// set switches the result. For false, it returns a channel for the time of the first failing answer.
func (s *switched) set(well bool) <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.well, s.failed = well, nil
	if !well {
		s.failed = make(chan time.Time, 1)
	}
	return s.failed
}

func (s *switched) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.well {
		w.WriteHeader(http.StatusOK)
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	if s.failed != nil {
		s.failed <- time.Now()
		s.failed = nil
	}
}
