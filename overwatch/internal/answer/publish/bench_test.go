package publish // inside: it looks at build and publishNext

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/model"
)

// manyNames returns settings and backends of n names with 4 weighted backends each.
func manyNames(n int) (Settings, *backends) {
	s := Settings{DNS: config.DNS{DefaultTTL: 30, Zones: []config.Zone{{Name: "gslb.test"}}}, NodeID: "node"}
	b := &backends{data: make(map[string][]*registry.Backend, n)}
	for i := range n {
		name := fmt.Sprintf("d%06d.gslb.test", i)
		s.Domains = append(s.Domains, config.Domain{Name: name, RoutingAlgorithm: "weighted", MaxAnswers: 1})
		for j := range 4 {
			address := netip.AddrFrom4([4]byte{10, byte(i >> 14), byte(i >> 6), byte(i<<2 + j)})
			b.data[name] = append(b.data[name], &registry.Backend{
				ID: registry.ID{
					Service: name,
					Address: address,
					Port:    80,
				}, Weight: 10 * (j + 1), Share: 1, MayServe: true,
			})
		}
	}
	return s, b
}

// One health change must have the same cost with few and with many names.
func BenchmarkPublishOneChange(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, backends := manyNames(n)
			p, err := New(
				Options{Settings: s, Backends: backends, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()},
			)
			if err != nil {
				b.Fatal(err)
			}
			name := s.Domains[n/2].Name
			all := backends.data[name]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				backends.data[name] = all[i%2:]
				p.Mark(name)
				p.publishChanges()
			}
		})
	}
}

// The benchmark rebuilds all names, and adds a name to many names.
func BenchmarkReconfigure(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		s, backends := manyNames(n)
		p, err := New(
			Options{Settings: s, Backends: backends, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()},
		)
		if err != nil {
			b.Fatal(err)
		}
		reconfigure := func(b *testing.B, s Settings) {
			next := new(next)
			p.build(next, s)
			if err := p.publishNext(b.Context(), next, func() {}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("%d/all", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.DNS.DefaultTTL++
				reconfigure(b, s)
			}
		})
		b.Run(fmt.Sprintf("%d/one", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				more := config.Domain{
					Name:             fmt.Sprintf("more%d.gslb.test", i),
					RoutingAlgorithm: "weighted",
					MaxAnswers:       1,
				}
				next := s
				next.Domains = append(slices.Clone(s.Domains), more)
				reconfigure(b, next)
			}
		})
	}
}

// The benchmark changes one of 100 000 records of the API in a signed zone, including the signature of its answer.
func BenchmarkRecord(b *testing.B) {
	for _, denial := range []string{"", config.DenialNSEC, config.DenialNSEC3} {
		b.Run("denial "+denial, func(b *testing.B) {
			s := changingSettings(denial)
			s.Records = s.Records.Edit()
			for i := range 100_000 {
				r := record(b, fmt.Sprintf("r%06d.gslb.test", i), "TXT", fmt.Sprintf("%043d", i))
				s.Records.Put(r.Key(), r)
			}
			o := Options{Settings: s, Backends: new(backends), Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}
			if denial != "" {
				var err error
				if o.Signing, err = dnssec.Open(dnssec.Options{Dir: b.TempDir(), NodeID: "node-1",
					Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}); err != nil {
					b.Fatal(err)
				}
			}
			p, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				name := fmt.Sprintf("_acme-challenge.r%06d.gslb.test", i%100_000)
				s = withRecords(s, []*model.Record{record(b, name, "TXT", fmt.Sprintf("%043d", i))})
				n := new(next)
				p.build(n, s)
				if err := p.publishNext(b.Context(), n, func() {}); err != nil {
					b.Fatal(err)
				}
				answer := p.View().Resolve(name+".", dns.TypeTXT, true, netip.Addr{}, zone.NewRotations(1, 1))
				if answer.Kind != zone.Positive {
					b.Fatal(answer)
				}
			}
		})
	}
}
