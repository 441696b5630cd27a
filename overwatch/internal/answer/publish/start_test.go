package publish // inside: it uses decidedAtOnce and plan

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// everyKind returns settings with many names of every algorithm, backends in all states, and the durations of their
// checks.
func everyKind(t *testing.T) (Settings, *backends, map[registry.ID]policy.LatencyMeasurement) {
	t.Helper()
	b, s := placedSettings(t, config.Domain{})
	s.Domains, b.data = nil, make(map[string][]*registry.Backend)
	latencies := make(map[registry.ID]policy.LatencyMeasurement)
	algorithms := policy.Algorithms()
	for i := range 4*decidedAtOnce + 7 {
		name := fmt.Sprintf("n%04d.gslb.test", i)
		d := config.Domain{
			Name:              name,
			RoutingAlgorithm:  algorithms[i%len(algorithms)].Name,
			TTL:               10 + i%3,
			Regions:           []string{"us", "fra", "ams"},
			FailoverThreshold: 1,
			ClientHash: config.ClientHash{
				IPv4Prefix: 24,
				IPv6Prefix: 56,
			},
			LatencyConfig: config.LatencyConfig{SmoothingFactor: .3, MaxLatencyMs: 500, MinSamples: 3},
		}
		if d.RoutingAlgorithm == policy.Proximity.Name {
			d.FallbackAlgorithm, d.Proximity.ToleranceKm = policy.ClientHash.Name, float64(i%4)*200
		}
		if i%5 == 0 {
			d.MaxAnswers = 2
		}
		if i%11 == 0 {
			d.OnAllDown = string(policy.All)
		}
		s.Domains = append(s.Domains, d)
		for j := range i % 8 {
			address := netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), byte(j + 1)})
			if j == 6 {
				address = netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i))
			}
			id := registry.ID{Service: name, Address: address, Port: 80}
			b.data[name] = append(b.data[name], &registry.Backend{
				ID: id, Region: s.Regions[j%3].Name, Weight: 1 + i%97 + 10*j, Share: 1, MayServe: i%13 != 0 && (i+j)%4 != 0,
				Reason: status.ReasonValidated,
			})
			latencies[id] = policy.LatencyMeasurement{Smoothed: time.Duration(10+j) * time.Millisecond, Samples: 4}
		}
	}
	return s, b, latencies
}

func outcomesOf(p *Publisher) map[string]policy.Outcome {
	outcomes := make(map[string]policy.Outcome)
	for service, d := range p.domains {
		outcomes[service] = d.outcome
	}
	return outcomes
}

// An unchanged decision does not move rotations, even if another goroutine made the previous decision.
func TestNew_LaterDecisionsLikeTheFirstChangeNothing(t *testing.T) {
	s, b, latencies := everyKind(t)
	p, err := New(
		Options{
			Settings:   s,
			Backends:   b,
			Latencies:  latencies,
			Registerer: prometheus.NewRegistry(),
			Logger:     zerolog.Nop(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	once, again := zone.NewRotations(1, 1), zone.NewRotations(1, 1)
	ask := func(turns *zone.Rotations, i int) string {
		r := p.View().Resolve(s.Domains[i].Name+".", dns.TypeA, false, netip.MustParseAddr("198.51.100.7"), turns)
		return fmt.Sprint(r.Kind, r.Answer)
	}
	for i := range s.Domains {
		ask(once, i)
		ask(again, i)
	}
	first := make([]string, len(s.Domains))
	for i := range s.Domains {
		first[i] = ask(once, i)
	}
	for i := range s.Domains {
		p.Mark(s.Domains[i].Name)
	}
	p.publishChanges()
	for i := range s.Domains {
		if got := ask(again, i); got != first[i] {
			t.Fatalf("%s goes on with %s, want %s", s.Domains[i].Name, got, first[i])
		}
	}
}

// Zones are built concurrently with the declaration of backends. Decisions wait for the end of the declaration.
func TestNew_DecidesWhenBackendsAreReady(t *testing.T) {
	b := new(backends)
	o := Options{Settings: testSettings(), Backends: b, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}
	o.Ready = func() error { b.set("app.gslb.test", "10.0.0.1"); return nil }
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, p, "app.gslb.test.", "A", "app.gslb.test. 10 IN A 10.0.0.1")
	fault := errors.New("the registry has stopped")
	o.Ready, o.Registerer = func() error { return fault }, prometheus.NewRegistry()
	if _, err := New(o); !errors.Is(err, fault) {
		t.Errorf("error %v, want %v", err, fault)
	}
}

// If the application of settings is cancelled during the decisions, the previous settings remain. Concurrent health
// changes are in the answers.
func TestForce_EndedMidwayLeavesTheViewBefore(t *testing.T) {
	s, b, latencies := everyKind(t)
	p, err := New(
		Options{
			Settings:   s,
			Backends:   b,
			Latencies:  latencies,
			Registerer: prometheus.NewRegistry(),
			Logger:     zerolog.Nop(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	before, positions, outcomes := p.View(), p.positions, outcomesOf(p)
	next := s
	next.Domains = append(
		slices.Clone(s.Domains),
		config.Domain{Name: "more.gslb.test", RoutingAlgorithm: "weighted", TTL: 10},
	)
	next.DNS.DefaultTTL++ // changes the decision of all names
	next.Places = placesWith(t, s.Regions, "198.51.100.0/24 40.7 -74")
	ctx, cancel := context.WithCancel(t.Context())
	between := 0
	err = rebuilt(ctx, p, next, func() {
		if between++; between == 2 {
			b.set("n0001.gslb.test", "10.9.9.9")
			p.Mark("n0001.gslb.test")
			p.publishChanges()
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || between != 2 {
		t.Fatalf("error %v after %d pauses", err, between)
	}
	if p.View() != before || p.positions != positions || p.building != nil ||
		len(p.plan.settings.Domains) != len(s.Domains) {
		t.Error("what was before is not in force any more")
	}
	wantAnswer(t, p, "n0001.gslb.test.", "A", "n0001.gslb.test. 11 IN A 10.9.9.9")
	wantAnswer(t, p, "more.gslb.test.", "A", "NXDOMAIN")
	outcomes["n0001.gslb.test"] = policy.Success
	for service, got := range outcomesOf(p) {
		if got != outcomes[service] {
			t.Errorf("%s is noted as %s, it was %s", service, got, outcomes[service])
		}
	}
}

// rebuilt applies settings as Run does.
func rebuilt(ctx context.Context, p *Publisher, s Settings, between func()) error {
	p.building = &next{again: make(map[string]struct{})}
	defer func() { p.building = nil }()
	p.build(p.building, s)
	return p.publishNext(ctx, p.building, between)
}
