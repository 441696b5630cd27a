package publish // inside: it uses metrics

import (
	"bytes"
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/config"
)

// backends is a registry of "address" or "address down" per service.
type backends struct {
	mu   sync.Mutex
	data map[string][]*registry.Backend
}

func (b *backends) Service(name string) []*registry.Backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data[name]
}

func (b *backends) set(service string, lines ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil {
		b.data = make(map[string][]*registry.Backend)
	}
	b.data[service] = nil
	for _, line := range lines {
		address, down, _ := strings.Cut(line, " ")
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			at = netip.AddrPortFrom(netip.MustParseAddr(address), 80)
		}
		b.data[service] = append(b.data[service], &registry.Backend{
			ID:     registry.ID{Service: service, Address: at.Addr(), Port: at.Port()},
			Weight: 100, Share: 1, MayServe: down == "",
		})
	}
}

// replace sets the list of a service, while a Publisher may be reading.
func (b *backends) replace(service string, list []*registry.Backend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data[service] = list
}

func testSettings() Settings {
	return Settings{
		DNS: config.DNS{
			DefaultTTL: 30,
			Zones:      []config.Zone{{Name: "gslb.test", Records: []string{"www CNAME app", "@ TXT hello"}}},
		},
		Domains: []config.Domain{
			{Name: "App.gslb.test", RoutingAlgorithm: "weighted", TTL: 10},
			{Name: "shop.example.com", RoutingAlgorithm: "round-robin"},
		},
		NodeID:    "node-1.rack.example",
		Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")},
	}
}

func newPublisher(t *testing.T, b *backends, s Settings) *Publisher {
	t.Helper()
	p, err := New(
		Options{Settings: s, Backends: b, Registerer: prometheus.NewRegistry(), Logger: zerolog.New(t.Output())},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask returns the answer and authority sections in zone-file form, or the kind of failure.
func ask(v *zone.View, name, rtype string) string {
	r := v.Resolve(name, dns.StringToType[rtype], false, netip.Addr{}, zone.NewRotations(1, 1))
	switch r.Kind {
	case zone.Failed:
		return "SERVFAIL"
	case zone.Refused:
		return "REFUSED"
	case zone.NXDomain:
		return "NXDOMAIN"
	}
	var words []string
	for _, rr := range r.Answer {
		words = append(words, strings.ReplaceAll(rr.String(), "\t", " "))
	}
	return strings.Join(words, "; ")
}

func wantAnswer(t *testing.T, p *Publisher, name, rtype, want string) {
	t.Helper()
	if got := ask(p.View(), name, rtype); got != want {
		t.Errorf("%s %s: %q, want %q", name, rtype, got, want)
	}
}

func TestNew_TheFirstViewIsComplete(t *testing.T) {
	b := new(backends)
	b.set("app.gslb.test", "10.0.0.1", "10.0.0.2 down")
	p := newPublisher(t, b, testSettings())
	for _, c := range [][3]string{
		{"app.gslb.test.", "A", "app.gslb.test. 10 IN A 10.0.0.1"},
		{"app.gslb.test.", "AAAA", ""},
		{"www.gslb.test.", "CNAME", "www.gslb.test. 30 IN CNAME app.gslb.test."},
		{"gslb.test.", "TXT", `gslb.test. 30 IN TXT "hello"`},
		{"gslb.test.", "NS", "gslb.test. 3600 IN NS node-1.gslb.test."},
		{"node-1.gslb.test.", "A", "node-1.gslb.test. 3600 IN A 192.0.2.7"},
		{"node-1.gslb.test.", "AAAA", "node-1.gslb.test. 3600 IN AAAA 2001:db8::7"},
		{"shop.example.com.", "A", "SERVFAIL"},
		{"shop.example.com.", "NS", "shop.example.com. 3600 IN NS node-1.shop.example.com."},
		{"example.com.", "A", "REFUSED"},
	} {
		wantAnswer(t, p, c[0], c[1], c[2])
	}
}

func TestMark_ChangesTheAnswersOfThatNameAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(backends)
		b.set("app.gslb.test", "10.0.0.1")
		p := newPublisher(t, b, testSettings())
		before := p.View()
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		b.set("app.gslb.test", "10.0.0.1 down", "10.0.0.2")
		b.set("shop.example.com", "10.0.0.3")
		p.Mark("APP.gslb.test.")
		if err := p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, p, "app.gslb.test.", "A", "app.gslb.test. 10 IN A 10.0.0.2")
		wantAnswer(t, p, "shop.example.com.", "A", "SERVFAIL")
		if p.View() != before {
			t.Error("a change of health made another view")
		}
		p.Mark("nobody.serves.this")
		if err := p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		stop()
		synctest.Wait()
	})
}

func TestMark_BurstsAreOnePublication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(backends)
		p := newPublisher(t, b, testSettings())
		registry := prometheus.NewRegistry()
		registry.MustRegister(p.metrics.publications)
		publications := func() float64 {
			families, _ := registry.Gather()
			return families[0].Metric[0].GetCounter().GetValue()
		}
		first := publications()
		for range 1000 {
			p.Mark("app.gslb.test")
			p.Mark("shop.example.com")
		}
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		synctest.Wait()
		if got := publications() - first; got != 1 {
			t.Errorf("%v publications, want 1", got)
		}
		stop()
		synctest.Wait()
	})
}

func TestFlush_EndsWithItsContextWhenNobodyPublishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublisher(t, new(backends), testSettings())
		p.Mark("app.gslb.test")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Flush(ctx); err == nil || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("error %v, want the deadline's", err)
		}
	})
}

func TestReconfigure_SwapsOnceAndKeepsTheOldViewOnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(backends)
		b.set("app.gslb.test", "10.0.0.1")
		b.set("new.gslb.test", "10.0.0.9")
		p := newPublisher(t, b, testSettings())
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)

		broken := testSettings()
		broken.DNS.Zones[0].Records = []string{"not a record"}
		if err := p.Reconfigure(ctx, broken, nil); err == nil ||
			!strings.Contains(err.Error(), "dns.zones[0].records[0]") {
			t.Errorf("error %v, want one that names the record", err)
		}
		wantAnswer(t, p, "gslb.test.", "TXT", `gslb.test. 30 IN TXT "hello"`)

		next := testSettings()
		next.DNS.Zones[0].Records = nil
		next.Domains = append(next.Domains[:1], config.Domain{Name: "new.gslb.test"})
		if err := p.Reconfigure(ctx, next, nil); err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, p, "new.gslb.test.", "A", "new.gslb.test. 30 IN A 10.0.0.9")
		wantAnswer(t, p, "app.gslb.test.", "A", "app.gslb.test. 10 IN A 10.0.0.1")
		wantAnswer(t, p, "shop.example.com.", "A", "REFUSED")
		wantAnswer(t, p, "gslb.test.", "TXT", "")
		stop()
		synctest.Wait()
	})
}

func TestPublisher_FewerThanMinHealthyAreAnsweredByTheLastResort(t *testing.T) {
	b := new(backends)
	b.set("app.gslb.test", "10.0.0.1", "10.0.0.2 down", "10.0.0.3 down")
	b.set("shop.example.com", "10.0.0.1", "10.0.0.2", "10.0.0.3 down")
	s := testSettings()
	s.Domains[0].MinHealthy, s.Domains[1].MinHealthy = "50%", "2"
	p := newPublisher(t, b, s)
	wantAnswer(t, p, "app.gslb.test.", "A", "SERVFAIL")
	if got := ask(p.View(), "shop.example.com.", "A"); got == "SERVFAIL" {
		t.Error("two of three are enough, but are answered with", got)
	}
}

// A backend is included in the percentage of min_healthy from its first check result or report.
func TestPublisher_BackendsCountForMinHealthyOnceTheyAreJudged(t *testing.T) {
	b := new(backends)
	s := testSettings()
	s.Domains[0].MinHealthy = "60%"
	p := newPublisher(t, b, s)
	for unknown, want := range map[bool]string{true: "app.gslb.test. 10 IN A 10.0.0.1", false: "SERVFAIL"} {
		b.set("app.gslb.test", "10.0.0.1", "10.0.0.2 down")
		b.Service("app.gslb.test")[1].Reason = map[bool]string{true: status.ReasonUnknown,
			false: status.ReasonFailing}[unknown]
		p.Mark("app.gslb.test")
		p.publishChanges()
		wantAnswer(t, p, "app.gslb.test.", "A", want)
	}
}

func TestPublisher_LogsALossAndItsEndButNoBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := new(backends)
		p, err := New(
			Options{
				Settings:   testSettings(),
				Backends:   b,
				Registerer: prometheus.NewRegistry(),
				Logger:     zerolog.New(&log),
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		for _, line := range []string{"10.0.0.1", "10.0.0.1 down", "10.0.0.1 down", "10.0.0.1"} {
			b.set("app.gslb.test", line)
			p.Mark("app.gslb.test")
			if err := p.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		synctest.Wait()
		want := []string{`"without_backend":2`, "answering SERVFAIL", "backends serve again"}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("logged %q, want %d lines", lines, len(want))
		}
		for i, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d: %s, want one with %s", i, lines[i], part)
			}
		}
	})
}

func TestSerial_RisesWithContentAndNotWithHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(backends)
		p := newPublisher(t, b, testSettings())
		serial := func() uint32 {
			r := p.View().Resolve("gslb.test.", dns.TypeSOA, false, netip.Addr{}, zone.NewRotations(1, 1))
			return r.Answer[0].(*dns.SOA).Serial
		}
		first := serial()
		if first != uint32(time.Now().Unix()) {
			t.Errorf("first serial %d, want the time", first)
		}
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		b.set("app.gslb.test", "10.0.0.1")
		p.Mark("app.gslb.test")
		if err := p.Reconfigure(ctx, testSettings(), nil); err != nil {
			t.Fatal(err)
		}
		if serial() != first {
			t.Errorf("serial %d after a change of health, want still %d", serial(), first)
		}
		for i := uint32(1); i < 4; i++ {
			next := testSettings()
			next.DNS.Zones[0].Records = append(next.DNS.Zones[0].Records, strings.Repeat("x", int(i))+" A 10.0.0.1")
			if err := p.Reconfigure(ctx, next, nil); err != nil {
				t.Fatal(err)
			}
			if serial() != first+i {
				t.Errorf("serial %d after change %d in the same second, want %d", serial(), i, first+i)
			}
		}
		stop()
		synctest.Wait()
	})
}
