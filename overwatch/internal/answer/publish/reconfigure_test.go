package publish // inside: it shares publisher_test.go

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
)

// These names are added and removed: names in a zone, at its apex, next to aliases and other records, in child zones,
// in no zone, and inside each other.
var comeAndGo = []string{
	"gslb.test", "app.gslb.test", "*.app.gslb.test", "a.b.c.gslb.test", "b.c.gslb.test", "*.c.gslb.test", "x.gslb.test",
	"y.gslb.test", "text.gslb.test",
	"www.gslb.test", "node-1.gslb.test", "ns.gslb.test", "child.gslb.test", "x.child.gslb.test", "under.gslb.test",
	"shop.example.com", "*.shop.example.com", "x.shop.example.com", "example.com", "one.example.net", "two.example.net",
	"*.three.example.net", "node-1.one.example.net", "solo.test", "ns.outside.test",
}

func changingSettings(denial string) Settings {
	s := testSettings()
	s.Denial = denial
	s.DNS.Zones = []config.Zone{
		{
			Name:    "gslb.test",
			Records: []string{"www CNAME app", "@ TXT hello", "text TXT x", "ns A 192.0.2.9", "*.static TXT y"},
		},
		{Name: "child.gslb.test", Nameservers: []string{"ns.gslb.test", "ns.outside.test"}},
		{Name: "deep.under.gslb.test"},
	}
	s.Domains = nil
	return s
}

// After any sequence of added, changed and removed domains, the answers equal the answers of a node that starts with
// the current domains: the same records, the same signed data, and the same proofs.
func TestReconfigure_IsTheSameAsStartingAnew(t *testing.T) {
	steps := 40
	if testing.Short() {
		steps = 12
	}
	for _, denial := range []string{"", config.DenialNSEC, config.DenialNSEC3} {
		t.Run("denial "+denial, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			s, b := changingSettings(denial), new(backends)
			b.set("app.gslb.test", "10.0.0.1")
			b.set("x.gslb.test", "10.0.0.2", "2001:db8::2")
			b.set("shop.example.com", "2001:db8::3")
			b.set("*.app.gslb.test", "10.0.0.4")
			var zones *dnssec.Zones
			if denial != "" {
				var err error
				if zones, err = dnssec.Open(dnssec.Options{Dir: t.TempDir(), NodeID: "node-1", Registerer: prometheus.NewRegistry(),
					Logger: zerolog.Nop()}); err != nil {
					t.Fatal(err)
				}
			}
			begin := func() *Publisher {
				p, err := New(
					Options{
						Settings:   s,
						Backends:   b,
						Signing:    zones,
						Registerer: prometheus.NewRegistry(),
						Logger:     zerolog.Nop(),
					},
				)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			p := begin()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			defer func() {
				stop()
				<-ended
			}()
			there := map[string]config.Domain{}
			refused := 0
			for i := range steps {
				next := maps.Clone(there)
				var put, deleted []string
				for _, at := range random.Perm(len(comeAndGo))[:1+random.IntN(4)] {
					name := comeAndGo[at]
					if _, is := there[name]; is && random.IntN(3) > 0 {
						delete(next, name)
						deleted = append(deleted, name)
						continue
					}
					d := config.Domain{Name: name, RoutingAlgorithm: "weighted", TTL: 10 + random.IntN(5)}
					if random.IntN(3) == 0 {
						d.DNSSECEnabled = new(bool)
					}
					next[name], put = d, append(put, name)
				}
				s.Domains = slices.SortedFunc(
					maps.Values(next),
					func(a, b config.Domain) int { return strings.Compare(a.Name, b.Name) },
				)
				unservable := Check(s)
				if len(unservable) == 0 && random.IntN(8) == 0 {
					s.DNS.DefaultTTL++
					s.DNS.MinTTL, s.DNS.MaxTTL = 9+random.IntN(5), 14+random.IntN(30)
					s.DNS.NegativeTTL = []*int{nil, new(random.IntN(60))}[random.IntN(2)]
				}
				err := p.Reconfigure(ctx, s, nil)
				if (err != nil) != (len(unservable) > 0) {
					t.Fatalf("step %d: put %v, deleted %v: %v, but %v", i, put, deleted, err, unservable)
				}
				if len(unservable) > 0 {
					refused++
				} else {
					there = next
				}
				s.Domains = slices.SortedFunc(
					maps.Values(there),
					func(a, b config.Domain) int { return strings.Compare(a.Name, b.Name) },
				)
				random.Shuffle(
					len(s.Domains),
					func(a, b int) { s.Domains[a], s.Domains[b] = s.Domains[b], s.Domains[a] },
				)
				if got, want := everything(p.View()), everything(begin().View()); got != want {
					t.Fatalf("step %d: put %v, deleted %v (%v): %s", i, put, deleted, err, firstDifference(got, want))
				}
			}
			t.Logf("%d changes were refused", refused)
		})
	}
}

// everything returns a view's answers about the added and removed names and the names near them, without serials and
// without the random parts of signatures.
func everything(v *zone.View) string {
	var b strings.Builder
	for _, name := range append([]string{"static.gslb.test", "q.static.gslb.test", "c.gslb.test", "nx.gslb.test",
		"nx.under.gslb.test", "deep.under.gslb.test", "com", "test"}, comeAndGo...) {
		for _, name := range []string{name, "0." + name} {
			for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeSOA, dns.TypeNS, dns.TypeDS} {
				r := v.Resolve(dns.Fqdn(name), rtype, true, netip.Addr{}, zone.NewRotations(1, 1))
				fmt.Fprintln(&b, name, dns.TypeToString[rtype], r.Kind)
				for _, rr := range append(r.Answer, r.Authority...) {
					switch rr := rr.(type) {
					case *dns.SOA:
						rr.Serial = 0
					case *dns.RRSIG:
						rr.Signature, rr.Inception, rr.Expiration = "", 0, 0
					}
					fmt.Fprintln(&b, " ", rr)
				}
			}
		}
	}
	return b.String()
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf(
				"%s\nfrom scratch:\n%s",
				strings.Join(a[max(i-6, 0):i+3], "\n"),
				strings.Join(b[max(i-6, 0):min(i+3, len(b))], "\n"),
			)
		}
	}
	return "more lines"
}

// The serial of a zone increases only with changes of its names, and its SOA record always has a valid signature.
func TestReconfigure_SerialsGrow(t *testing.T) {
	w := newSignedWorld(t, testSettings())
	defer w.run(t)()
	serial := func(apex string) uint32 {
		t.Helper()
		if err := w.verify(w.View(), apex, dns.TypeSOA); err != nil {
			t.Error(err)
		}
		return w.View().Resolve(apex, dns.TypeSOA, false, netip.Addr{}, zone.NewRotations(1, 1)).Answer[0].(*dns.SOA).Serial
	}
	first, other := serial("gslb.test."), serial("shop.example.com.")
	more := config.Domain{Name: "more.gslb.test", RoutingAlgorithm: "weighted", TTL: 10}
	all := append(testSettings().Domains, more)
	change := func(domains []config.Domain) {
		t.Helper()
		s := testSettings()
		s.Domains = domains
		if err := w.Reconfigure(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	change(all)
	second := serial("gslb.test.")
	more.TTL = 11
	change(append(testSettings().Domains, more))
	third := serial("gslb.test.")
	change(testSettings().Domains)
	if fourth := serial("gslb.test."); int32(second-first) <= 0 || third != second || int32(fourth-third) <= 0 ||
		serial("shop.example.com.") != other {
		t.Errorf("serials %d, %d, %d, %d", first, second, third, fourth)
	}
	if err := w.verify(w.View(), "nx.gslb.test.", dns.TypeA); err != nil {
		t.Error(err)
	}
}

// If commit fails, nothing changes. commit is called only for valid settings.
func TestReconfigure_CommitDecides(t *testing.T) {
	w := newSignedWorld(t, testSettings())
	defer w.run(t)()
	s, before, asked := testSettings(), w.View(), 0
	full := errors.New("the disk is full")
	commit := func() error { asked++; return full }
	s.Domains = append(s.Domains, config.Domain{Name: "more.gslb.test", RoutingAlgorithm: "weighted", TTL: 10})
	if err := w.Reconfigure(t.Context(), s, commit); !errors.Is(err, full) || asked != 1 || w.View() != before {
		t.Errorf("error %v, asked %d times", err, asked)
	}
	s.Domains = append(s.Domains, config.Domain{Name: "bad..name"})
	if err := w.Reconfigure(t.Context(), s, commit); err == nil || asked != 1 || w.View() != before {
		t.Errorf("error %v, asked %d times", err, asked)
	}
	full = nil
	s.Domains = s.Domains[:len(s.Domains)-1]
	if err := w.Reconfigure(t.Context(), s, commit); err != nil || asked != 2 || w.View() == before {
		t.Errorf("error %v, asked %d times", err, asked)
	}
}

// The benchmark adds a name to many names.
func BenchmarkReconfigure_Signed(b *testing.B) {
	for _, names := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(names, " names"), func(b *testing.B) {
			s := testSettings()
			for i := range names {
				s.Domains = append(
					s.Domains,
					config.Domain{Name: fmt.Sprintf("n%d.gslb.test", i), RoutingAlgorithm: "weighted", TTL: 10},
				)
			}
			zones, err := dnssec.Open(
				dnssec.Options{
					Dir:        b.TempDir(),
					NodeID:     "node-1",
					Registerer: prometheus.NewRegistry(),
					Logger:     zerolog.Nop(),
				},
			)
			if err != nil {
				b.Fatal(err)
			}
			p, err := New(
				Options{
					Settings:   s,
					Backends:   new(backends),
					Signing:    zones,
					Registerer: prometheus.NewRegistry(),
					Logger:     zerolog.Nop(),
				},
			)
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			i := 0
			for b.Loop() {
				i++
				d := config.Domain{Name: fmt.Sprintf("more%d.gslb.test", i), RoutingAlgorithm: "weighted", TTL: 10}
				s.Domains = append(s.Domains, d)
				if err := p.Reconfigure(ctx, s, nil); err != nil {
					b.Fatal(err)
				}
			}
			stop()
			<-ended
		})
	}
}
