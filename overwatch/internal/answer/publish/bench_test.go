package publish

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
)

// manyNames is settings and backends of n names with 4 weighted backends each.
func manyNames(n int) (Settings, *backends) {
	s := Settings{DNS: config.DNS{DefaultTTL: 30, Zones: []config.Zone{{Name: "gslb.test"}}}, NodeID: "node"}
	b := &backends{data: make(map[string][]*registry.Backend, n)}
	for i := range n {
		name := fmt.Sprintf("d%06d.gslb.test", i)
		s.Domains = append(s.Domains, config.Domain{Name: name, RoutingAlgorithm: "weighted", MaxAnswers: 1})
		for j := range 4 {
			address := netip.AddrFrom4([4]byte{10, byte(i >> 14), byte(i >> 6), byte(i<<2 + j)})
			b.data[name] = append(b.data[name], &registry.Backend{
				ID: registry.ID{Service: name, Address: address, Port: 80}, Weight: 10 * (j + 1), Share: 1, MayServe: true,
			})
		}
	}
	return s, b
}

// One change of health, with few names and with many: it must cost the same.
func BenchmarkPublishOneChange(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, backends := manyNames(n)
			p, err := New(Options{Settings: s, Backends: backends, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
			if err != nil {
				b.Fatal(err)
			}
			name := s.Domains[n/2].Name
			all := backends.data[name]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				backends.data[name] = all[i%2:]
				p.Mark(name)
				p.publishMarked()
			}
		})
	}
}

// Everything anew, as at the start and on reload.
func BenchmarkReconfigure(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, backends := manyNames(n)
			p, err := New(Options{Settings: s, Backends: backends, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := p.force(b.Context(), p.build(s, p.view.Load(), nil), func() {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
