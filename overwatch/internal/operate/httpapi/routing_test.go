package httpapi // inside: it uses problemOf

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// someBackends is a registry that contains backends of one service each.
type someBackends map[string][]*registry.Backend

func (b someBackends) Service(name string) []*registry.Backend { return b[name] }

// steeredBy returns a view of geo.test. Clients in 192.0.2.0/24 are in us, and all other clients are in eu.
func steeredBy(t testing.TB, backends publish.Backends, domains ...config.Domain) func() *zone.View {
	t.Helper()
	places, err := geo.New(geo.Sources{
		Regions: []geo.Region{{Name: "eu"}, {Name: "us"}}, DefaultRegion: "eu",
		Mappings: []geo.Mapping{{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Region: "us"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := publish.New(publish.Options{
		Settings: publish.Settings{
			DNS:     config.DNS{DefaultTTL: 30, Zones: []config.Zone{{Name: "test", Records: []string{"own A 192.0.2.80"}}}},
			Domains: domains, Regions: []config.Region{{Name: "eu", Enabled: true}, {Name: "us", Enabled: true}},
			Places: places, NodeID: "node",
			Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.53")},
		},
		Backends: backends, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.View
}

func backendAt(at, region string, change func(*registry.Backend)) *registry.Backend {
	where := netip.MustParseAddrPort(at)
	b := &registry.Backend{
		ID: registry.ID{Address: where.Addr(), Port: where.Port()}, Weight: 100, Region: region, Share: 1,
		Status: api.EffectiveHealthy, MayServe: true, Reason: status.ReasonAgreed,
	}
	if change != nil {
		change(b)
	}
	return b
}

func geoWorld(t *testing.T, adjust ...func(*Options)) *world {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	view := steeredBy(t, someBackends{"geo.test": {
		backendAt("10.0.0.1:443", "eu", nil),
		backendAt("10.0.0.2:443", "eu", func(b *registry.Backend) { b.Weight = 300 }),
		backendAt("10.0.0.3:443", "us", func(b *registry.Backend) {
			b.Status, b.MayServe, b.Reason, b.OwnCheck.LastError = api.EffectiveUnhealthy, false, status.ReasonFailing,
				"connection refused"
			b.OwnCheck.State = check.StateUnhealthy
		}),
		backendAt("10.0.0.4:443", "us", func(b *registry.Backend) {
			b.Status, b.MayServe, b.Reason = api.EffectiveUnhealthy, false, status.ReasonOverrideUnhealthy
			b.Override = &registry.AdminState{CreatedBy: "198.51.100.1", Reason: "kernel update", ExpiresAt: noon}
		}),
		backendAt("10.0.0.5:443", "eu", func(b *registry.Backend) { b.Weight = 0 }),
		backendAt("10.0.0.6:443", "eu", func(b *registry.Backend) { b.Draining, b.DrainEndsAt, b.Share = true, noon, 0 }),
		backendAt("[2001:db8::1]:443", "eu", nil),
	}, "down.test": {backendAt("10.0.0.9:1", "eu", func(b *registry.Backend) { b.MayServe = false })},
		"*.any.test": {backendAt("10.0.1.1:1", "eu", nil), backendAt("10.0.1.2:1", "us", nil)}},
		config.Domain{Name: "geo.test", RoutingAlgorithm: "geolocation", Regions: []string{"us", "eu"}, TTL: 60,
			MaxAnswers: 1, HTTPS: config.HTTPS{ALPN: []string{"h2"}}, SRV: []string{"_sip._tcp"}},
		config.Domain{Name: "down.test", RoutingAlgorithm: "weighted"},
		config.Domain{Name: "*.any.test", RoutingAlgorithm: "geolocation", Regions: []string{"us", "eu"}, TTL: 5})
	return newWorld(t, append(adjust, func(o *Options) { o.DNSView = view })...)
}

func (w *world) route(body string) api.RoutingResult {
	w.t.Helper()
	r := w.send("POST", "/api/v1/routing/test", body)
	var answer api.RoutingTest
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil || r.status != 200 {
		w.t.Fatalf("%s: %d %s", body, r.status, r.body)
	}
	return answer.Result
}

func TestRoutingTest_SaysWhoAnswersWhoNotAndWhy(t *testing.T) {
	w := geoWorld(t)
	w.cfg.Load().Overwatch.Geolocation.ECSEnabled = true
	r := w.route(`{"domain": "GEO.test.", "client_ip": "198.51.100.1", "edns": {"client_subnet": "192.0.2.0/25"}}`)
	if r.Domain != "geo.test" || r.ClientRegion != "us" || r.LocatedBy != "custom_mapping" ||
		r.ClientSubnet != "192.0.2.0/25" || r.ECSScope != 24 ||
		r.Algorithm != "geolocation" || r.Decision != api.RoutingFailover || r.TTL != 60 || r.Generation == 0 ||
		len(r.Answer) != 1 {
		t.Errorf("%+v", r)
	}
	shares := map[string]float64{}
	for _, b := range append(r.Alternatives, *r.SelectedBackend) {
		shares[b.Address] = b.Share
		if b.Region != "eu" || b.Priority != 2 || !b.Healthy {
			t.Errorf("%+v", b)
		}
	}
	if fmt.Sprint(shares) != "map[10.0.0.1:0.25 10.0.0.2:0.75]" {
		t.Errorf("shares %v", shares)
	}
	reasons := map[string]string{}
	for _, x := range r.Excluded {
		reasons[x.Address] = x.Reason
	}
	for address, words := range map[string]string{
		"10.0.0.3": "unhealthy: own checks fail: connection refused",
		"10.0.0.4": "override: unhealthy: unhealthy, set by 198.51.100.1, expires 2026-01-01T12:00:00Z: kernel " +
			"update",
		"10.0.0.5": "weight is 0", "10.0.0.6": "drained", "2001:db8::1": "other family",
	} {
		if !strings.Contains(reasons[address], words) {
			t.Errorf("%s: %q does not say %q", address, reasons[address], words)
		}
	}
	would := map[string]string{}
	for _, x := range r.WouldBe {
		would[x.IfUp] = fmt.Sprint(x.Decision, x.Region, x.Answers)
	}
	for up, want := range map[string]string{
		"10.0.0.3:443": "successus[{10.0.0.3 1}]", "10.0.0.4:443": "successus[{10.0.0.4 1}]",
		"all": "successus[{10.0.0.3 0.5} {10.0.0.4 0.5}]",
	} {
		if would[up] != want {
			t.Errorf("if %s were up: %q, want %q", up, would[up], want)
		}
	}
	types := map[string]bool{}
	for _, f := range r.Factors {
		types[f.Type] = true
	}
	for _, want := range []string{"geo", "health", "weight", "priority", "override", "drain"} {
		if !types[want] {
			t.Errorf("no factor of type %s in %+v", want, r.Factors)
		}
	}
}

func TestRoutingTest_EveryKindOfDecision(t *testing.T) {
	w := geoWorld(t)
	for _, c := range []struct{ domain, more, want string }{
		{"geo.test", ``, "success default  eu 10.0.0"},
		{"geo.test", `, "query_type": "aaaa"`, "success default  eu 2001:db8::1"},
		{"down.test", ``, "no_healthy_backend default  eu none"},
		{"down.test", `, "query_type": "AAAA"`, "no_data default  eu none"},
		{"geo.test", `, "query_type": "https"`, "success default  eu 10.0.0"},
		{"_sip._tcp.GEO.test.", `, "query_type": "SRV"`, "success default  eu none"},
		{"down.test", `, "query_type": "HTTPS"`, "not_steered default  eu none"},
		{"own.test", ``, "not_steered default  eu none"},
		{"nothing.test", ``, "domain_not_found default  eu none"},
		{"example.org", ``, "domain_not_found default  eu none"},
		// Client subnets are disabled, so the option has no effect.
		{"geo.test", `, "edns": {"client_subnet": "192.0.2.0/24"}`, "success default  eu 10.0.0"},
		{"geo.test", `, "edns": null`, "success default  eu 10.0.0"},
	} {
		r := w.route(fmt.Sprintf(`{"domain": %q, "client_ip": "::ffff:198.51.100.1"%s}`, c.domain, c.more))
		selected := "none"
		if r.SelectedBackend != nil {
			selected = r.SelectedBackend.Address
		}
		if got := fmt.Sprintf("%s %s %s %s %s", r.Decision, r.LocatedBy, r.ClientSubnet, r.ClientRegion,
			selected); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s%s: %s, want %s", c.domain, c.more, got, c.want)
		}
	}
	if got := w.route(`{"domain": "own.test", "client_ip": "192.0.2.1"}`).Answer; len(got) != 1 ||
		got[0] != "own.test. 30 IN A 192.0.2.80" {
		t.Errorf("a name with records: %q", got)
	}
}

func TestRoutingTest_RecordsBesideAddresses(t *testing.T) {
	w := geoWorld(t)
	r := w.route(`{"domain": "geo.test", "client_ip": "198.51.100.1", "query_type": "https"}`)
	if len(r.Answer) != 1 || r.SelectedBackend == nil || r.QueryType != "HTTPS" || r.TTL != 60 || r.Answer[0] !=
		`geo.test. 60 IN HTTPS 1 . alpn="h2" ipv4hint="`+r.SelectedBackend.Address+`" ipv6hint="2001:db8::1"` {
		t.Errorf("HTTPS: %+v", r)
	}
	r = w.route(`{"domain": "_sip._tcp.geo.test", "client_ip": "198.51.100.1", "query_type": "SRV"}`)
	if len(r.Answer) != 1 || r.Answer[0] != "_sip._tcp.geo.test. 60 IN SRV 0 100 443 geo.test." || r.QueryType != "SRV" ||
		r.TTL != 60 || r.Algorithm != "geolocation" || len(r.Alternatives) != 2 || len(r.Excluded) != 5 ||
		r.ECSScope == 0 {
		t.Errorf("SRV: %+v", r)
	}
}

func TestRoutingTest_RefusesWhatNoClientCouldAsk(t *testing.T) {
	w := geoWorld(t)
	for body, words := range map[string]string{
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "query_type": "MX"}`: "A, AAAA, HTTPS or SRV",

		`{"client_ip": "192.0.2.1"}`:                                                                      "domain",
		`{"domain": "geo..test", "client_ip": "192.0.2.1"}`:                                               "domain is",
		`{"domain": "` + strings.Repeat("x", 64) + `.test", "client_ip": "192.0.2.1"}`:                    "domain is",
		`{"domain": "` + strings.Repeat("x.", 5000) + `", "client_ip": "192.0.2.1"}`:                      "domain is",
		`{"domain": "geo.test"}`:                                                                          "client_ip",
		`{"domain": "geo.test", "client_ip": "192.0.2.1/32"}`:                                             "client_ip",
		`{"domain": "geo.test", "client_ip": "fe80::1%eth0"}`:                                             "client_ip",
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "edns": {"client_subnet": "192.0.2.1/24"}}`:     "bits behind",
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "edns": {"client_subnet": "192.0.2.0/33"}}`:     "client_subnet",
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "edns":{"client_subnet":"192.0.2.0/24","x":1}}`: "unknown fields",
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "edns": []}`:                                    "object",
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "client": "x"}`:                                 "unknown fields",
	} {
		w.wantError(body, w.send("POST", "/api/v1/routing/test", body), 400, words)
	}
}

func TestRoutingAlgorithms_AreAllDescribed(t *testing.T) {
	w := newWorld(t)
	list, err := w.client.RoutingAlgorithms(t.Context())
	w.must(err)
	defaults := 0
	for i, a := range policy.Algorithms() {
		got := list.Algorithms[i]
		if got.ID != a.Name || got.Name == "" || got.Description == "" || got.Type == "" || got.Parameters == nil ||
			!got.Enabled {
			t.Errorf("%s: %+v", a, got)
		}
		if got.Default {
			defaults++
		}
	}
	if list.Total != len(policy.Algorithms()) || defaults != 1 {
		t.Errorf("%d algorithms, %d defaults", list.Total, defaults)
	}
	w.wantError("an unknown one", w.send("GET", "/api/v1/routing/algorithms/chance", ""), 404, "weighted")
	w.want("latency", w.send("GET", "/api/v1/routing/algorithms/latency", ""), 200, "max_latency_ms")
}

// FuzzRoutingTest checks that the response to any body is an explanation or an error message for the client.
func FuzzRoutingTest(f *testing.F) {
	for _, body := range []string{
		`{"domain": "geo.test", "client_ip": "192.0.2.1"}`,
		`{"domain": "*.geo.test", "client_ip": "2002:c000:201::1", "query_type": "AAAA", "edns": {"client_subnet": ` +
			`"2001:db8::/32"}}`,
		`{"domain": "geo.test", "client_ip": "192.0.2.1", "query_type": "HTTPS"}`,
		`{"domain": "_sip._tcp.geo.test", "client_ip": "192.0.2.1", "query_type": "srv"}`,
		`{"domain": "\\000.test", "client_ip": "::", "edns": {"client_subnet": "0.0.0.0/0"}}`, `{"edns": 1}`, `[]`,
	} {
		f.Add([]byte(body))
	}
	view := steeredBy(f, someBackends{"geo.test": {backendAt("10.0.0.1:443", "eu", nil)}},
		config.Domain{Name: "geo.test", RoutingAlgorithm: "geolocation", Regions: []string{"us", "eu"},
			HTTPS: config.HTTPS{ALPN: []string{"h2"}}, SRV: []string{"_sip._tcp"}})
	s := &Server{o: Options{DNSView: view, Now: time.Now,
		Config: func() (*config.Config, time.Time) { return config.Default(), time.Time{} }}}
	f.Fuzz(func(t *testing.T, body []byte) {
		result, _, err := s.testRouting(body)
		if err != nil {
			if _, ok := problemOf(err); !ok {
				t.Errorf("%s: %v", body, err)
			}
			return
		}
		if _, err := json.Marshal(result); err != nil || result.Decision == "" {
			t.Errorf("%s: %+v, %v", body, result, err)
		}
	})
}

func TestRoutingAnswers_AreThoseOfAllRegions(t *testing.T) {
	w := geoWorld(t)
	answers := func(query string) string {
		t.Helper()
		r := w.send("GET", "/api/v1/routing/answers?"+query, "")
		var list api.RoutingAnswerList
		if err := json.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", query, r.status, r.body)
		}
		var said []string
		for _, a := range list.Answers {
			who := a.ClientRegion
			if a.Everybody {
				who = "everybody"
			}
			text := fmt.Sprintf("%s %s %d:", who, a.Decision, a.TTL)
			for _, share := range a.Addresses {
				text += fmt.Sprintf(" %s %.2f", share.Address, share.Share)
			}
			said = append(said, text)
		}
		return strings.Join(said, "; ")
	}
	for query, want := range map[string]string{
		"domain=geo.test": " success 60: 10.0.0.1 0.25 10.0.0.2 0.75; eu success 60: 10.0.0.1 0.25 " +
			"10.0.0.2 0.75; us failover 60: 10.0.0.1 0.25 10.0.0.2 0.75",
		"domain=GEO.test.&query_type=aaaa": " success 60: 2001:db8::1 1.00; eu success 60: 2001:db8::1 1.00; us success " +
			"60: 2001:db8::1 1.00",
		"domain=down.test": "everybody no_healthy_backend 30:",
		"domain=*.any.test": " success 5: 10.0.1.2 1.00; eu success 5: 10.0.1.1 1.00; us success 5: " +
			"10.0.1.2 1.00",
	} {
		if got := answers(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, status := range map[string]int{"": 400, "domain=own.test": 404, "domain=none.example": 404,
		"domain=a..b": 400, "domain=geo.test&query_type=TXT": 400, "domain=geo.test&x=1": 400} {
		if r := w.send("GET", "/api/v1/routing/answers?"+query, ""); r.status != status {
			t.Errorf("%s: %d %s, want %d", query, r.status, r.body, status)
		}
	}
}
