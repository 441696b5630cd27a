package publish // inside: it uses decideBoth, domain and latencyPace

import (
	"context"
	"maps"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/model"
)

func TestMeasured_NamesThatChooseByLatencyFollowTheFastest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(backends)
		b.set("app.gslb.test", "10.0.0.1", "10.0.0.2")
		s := testSettings()
		s.Domains = []config.Domain{{Name: "app.gslb.test", RoutingAlgorithm: "latency", TTL: 10,
			LatencyConfig: config.LatencyConfig{SmoothingFactor: .5, MaxLatencyMs: 500, MinSamples: 3}}}
		p := newPublisher(t, b, s)
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		answered := func() int {
			seen, turns := map[string]bool{}, zone.NewRotations(1, 1)
			for range 8 {
				r := p.View().Resolve("app.gslb.test.", 1, false, netip.Addr{}, turns)
				seen[r.Answer[0].String()] = true
			}
			return len(seen)
		}
		measure := func(first, second time.Duration) {
			for i, took := range []time.Duration{first, second} {
				p.Measured(
					registry.ID{
						Service: "app.gslb.test",
						Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}),
						Port:    80,
					},
					took,
				)
			}
			p.Measured(registry.ID{Service: "other.gslb.test", Address: netip.MustParseAddr("10.0.0.9"), Port: 80}, 1)
			time.Sleep(2 * latencyPace) // virtual time
			synctest.Wait()
		}
		for i := range 2 {
			measure(20*time.Millisecond, 40*time.Millisecond)
			if n := answered(); n != 2 {
				t.Fatalf("%d addresses answer after %d samples, want both until there are enough", n, i+1)
			}
		}
		measure(20*time.Millisecond, 40*time.Millisecond)
		wantAnswer(t, p, "app.gslb.test.", "A", "app.gslb.test. 10 IN A 10.0.0.1")
		before := p.View()
		measure(400*time.Millisecond, 40*time.Millisecond) // smoothed: 210 and 40
		wantAnswer(t, p, "app.gslb.test.", "A", "app.gslb.test. 10 IN A 10.0.0.2")
		if p.View() != before {
			t.Error("a measurement made another view")
		}
		if n := len(p.Latencies()); n != 2 {
			t.Errorf("%d backends are measured, want those of the name that chooses by latency", n)
		}
		b.set("app.gslb.test", "10.0.0.2")
		measure(20*time.Millisecond, 40*time.Millisecond) // for the first backend, which was removed during its check
		p.Measured(
			registry.ID{Service: "app.gslb.test", Address: netip.MustParseAddr("10.0.0.2"), Port: 80},
			time.Millisecond,
		)
		time.Sleep(2 * latencyPace)
		synctest.Wait()
		if n := len(p.Latencies()); n != 1 {
			t.Errorf("%d backends are measured after one of two went: %v", n, p.Latencies())
		}
		change := func(put []config.Domain) {
			t.Helper()
			next := s
			next.Domains = put
			if err := p.Reconfigure(ctx, next, nil); err != nil {
				t.Fatal(err)
			}
		}
		change(nil)
		if left := p.Latencies(); len(left) != 0 {
			t.Errorf("measurements of a name that is gone are kept: %v", left)
		}
		change(s.Domains)
		measure(0, 40*time.Millisecond)
		if n := len(p.Latencies()); n == 0 {
			t.Error("a name that came back is not measured")
		}
		if err := p.Reconfigure(ctx, testSettings(), nil); err != nil || len(p.Latencies()) != 0 {
			t.Errorf("measurements of a name that no longer chooses by latency are kept (%v)", err)
		}
		stop()
		synctest.Wait()
	})
}

func TestMeasured_ARestartBeginsWithWhatWasMeasuredBefore(t *testing.T) {
	b := new(backends)
	b.set("app.gslb.test", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")
	s := testSettings()
	s.Domains = []config.Domain{{Name: "app.gslb.test", RoutingAlgorithm: "latency", TTL: 10,
		LatencyConfig: config.LatencyConfig{SmoothingFactor: .5, MaxLatencyMs: 500, MinSamples: 3}}}
	id := func(last byte) registry.ID {
		return registry.ID{Service: "app.gslb.test", Address: netip.AddrFrom4([4]byte{10, 0, 0, last}), Port: 80}
	}
	before := map[registry.ID]policy.LatencyMeasurement{
		id(1): {Smoothed: 40 * time.Millisecond, Samples: 9}, id(2): {Smoothed: 20 * time.Millisecond, Samples: 9},
		// Both are equally slow; only one of them was previously among the fastest.
		id(3): {
			Smoothed: 24 * time.Millisecond,
			Samples:  9,
			Groups:   []string{"latency"},
		}, id(4): {Smoothed: 24 * time.Millisecond, Samples: 9},
		{Service: "gone.gslb.test", Port: 80}: {Samples: 1},
	}
	p, err := New(
		Options{
			Settings:   s,
			Backends:   b,
			Latencies:  before,
			Registerer: prometheus.NewRegistry(),
			Logger:     zerolog.Nop(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	led, turns := map[string]int{}, zone.NewRotations(1, 1)
	for range 8 {
		for _, rr := range p.View().Resolve("app.gslb.test.", dns.TypeA, false, netip.Addr{}, turns).Answer {
			led[rr.(*dns.A).A.String()]++
		}
	}
	if want := map[string]int{"10.0.0.2": 4, "10.0.0.3": 4}; !maps.Equal(led, want) {
		t.Errorf("answered with %v, want %v", led, want)
	}
	if kept := p.Latencies(); len(kept) != 4 || kept[id(2)].Smoothed != 20*time.Millisecond ||
		len(kept[id(3)].Groups) != 1 {
		t.Errorf("%+v is kept, want the four of the name that chooses by latency", kept)
	}
}

// A backend that is among the fastest for clients of its region is not necessarily among the fastest for all clients.
func TestHold_OneGroupOfClientsHoldsNothingForAnother(t *testing.T) {
	id := func(last byte) registry.ID {
		return registry.ID{Service: "app.gslb.test", Address: netip.AddrFrom4([4]byte{10, 0, 0, last}), Port: 80}
	}
	m := measurements{smoothed: map[string]map[registry.ID]policy.LatencyMeasurement{"app.gslb.test": {
		id(1): {Smoothed: 20 * time.Millisecond, Samples: 3}, id(2): {Smoothed: 17 * time.Millisecond, Samples: 3},
	}}}
	d := &domain{service: "app.gslb.test", rules: &policy.Rules{
		Algorithm: policy.Geolocation, Fallback: policy.Latency, Pools: map[string]*policy.Algorithm{"eu": policy.Latency},
		TTL: 10, Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MinSamples: 3}},
	}}
	for range 3 {
		var candidates []policy.Candidate
		for i, region := range []string{"eu", "us"} {
			backend := id(byte(i + 1))
			candidates = append(
				candidates,
				policy.Candidate{
					Address:  backend.Address,
					Port:     80,
					Region:   region,
					Weight:   1,
					Share:    1,
					MayServe: true,
					Latency:  m.smoothed["app.gslb.test"][backend],
				},
			)
		}
		basis := &policy.DecisionInput{Rules: d.rules, Candidates: candidates, UsesRegion: true}
		nowhere, eu := decideBoth(basis, policy.ClientLocation{}, nil), decideBoth(basis,
			policy.ClientLocation{Region: "eu"}, nil)
		if due := nowhere[policy.IPv4].Members; len(due) != 1 || due[0].Address != id(2).Address {
			t.Errorf("a client in no region is answered %v, want the fastest of all", due)
		}
		if due := eu[policy.IPv4].Members; len(due) != 1 || due[0].Address != id(1).Address {
			t.Errorf("a client in eu is answered %v, want the fastest there", due)
		}
		m.recordGroups(d, candidates, [][2]policy.Decision{nowhere, eu})
	}
	if held := m.smoothed["app.gslb.test"][id(1)].Groups; len(held) != 1 {
		t.Errorf("10.0.0.1 is held in %q, want its region's group alone", held)
	}
}
