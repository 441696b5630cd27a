package publish_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
)

// aliasSettings returns the settings of app.gslb.test with target names as answers.
func aliasSettings(change ...func(*config.Domain)) publish.Settings {
	d := config.Domain{Name: "app.gslb.test", RoutingAlgorithm: "weighted", TTL: 10, MaxAnswers: 4,
		Answer: config.AnswerCNAME}
	for _, f := range change {
		f(&d)
	}
	return publish.Settings{DNS: config.DNS{DefaultTTL: 30, Zones: []config.Zone{{Name: "gslb.test"}}},
		Domains: []config.Domain{d}, NodeID: "n1", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7")}}
}

// aliases contains a Publisher for a name with alias answers, and its registry.
type aliases struct {
	t        *testing.T
	p        *publish.Publisher
	registry *registry.Registry
	turns    *zone.Rotations
}

func newAliases(t *testing.T, s publish.Settings) *aliases {
	t.Helper()
	w := &aliases{t: t, turns: zone.NewRotations(1, 1)}
	var err error
	w.registry, err = registry.New(registry.Options{Timing: registry.Timing{StaleThreshold: time.Minute,
		RemoveAfter: time.Hour, ValidationEnabled: true, ValidationInterval: time.Minute},
		Changed: func(service string) {
			if w.p != nil {
				w.p.Mark(service)
			}
		}, Logger: zerolog.Nop()})
	w.must(err)
	w.p, err = publish.New(publish.Options{Settings: s, Backends: w.registry.View(),
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	w.must(err)
	go func() { _ = w.registry.Run(t.Context()) }()
	go func() { _ = w.p.Run(t.Context()) }()
	return w
}

func (w *aliases) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// serve sets the servers of app, each as "target/address" or "/address". Servers with the prefix "down " fail their
// checks.
func (w *aliases) serve(list ...string) {
	w.t.Helper()
	var all []registry.Declaration
	var verdicts []registry.CheckResult
	for _, word := range list {
		rest, down := strings.CutPrefix(word, "down ")
		target, address, _ := strings.Cut(rest, "/")
		id := registry.ID{Service: "app.gslb.test", Address: netip.MustParseAddr(address), Port: 443}
		d := registry.Declaration{ID: id, Weight: 100}
		if target != "" {
			d.Host = registry.Host{Name: target, Addresses: 2}
		}
		v := registry.CheckResult{ID: id, State: check.StateHealthy, Outcome: check.Success}
		if down {
			v.State, v.Outcome = check.StateUnhealthy, check.Failure
		}
		all, verdicts = append(all, d), append(verdicts, v)
	}
	w.must(w.registry.SetStaticDeclarations(w.t.Context(), all))
	for _, v := range verdicts {
		w.must(w.registry.ApplyCheckResult(w.t.Context(), v))
	}
	w.must(w.registry.WaitForCommands(w.t.Context()))
	w.p.Flush(w.t.Context())
}

// wants sends queries for some rotations and compares the number of each answer.
func (w *aliases) wants(when string, rtype uint16, want map[string]int) {
	w.t.Helper()
	times, seen := 0, map[string]int{}
	for _, n := range want {
		times += n
	}
	for range times {
		var words []string
		r := w.p.View().Resolve("app.gslb.test.", rtype, false, netip.Addr{}, w.turns)
		for _, rr := range r.Answer {
			words = append(words, dns.Type(rr.Header().Rrtype).String()+" "+dns.Field(rr, 1))
		}
		if r.Kind == zone.Failed {
			words = []string{"SERVFAIL"}
		}
		seen[strings.Join(words, " ")]++
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		w.t.Errorf("%s: %v, want %v", when, seen, want)
	}
}

func TestAliases_FollowHealthByTarget(t *testing.T) {
	w := newAliases(t, aliasSettings())
	w.wants("without servers", dns.TypeA, map[string]int{"SERVFAIL": 1})
	a, a6, b := "a.cdn.test/192.0.2.1", "a.cdn.test/2001:db8::1", "b.cdn.test/192.0.2.2"
	w.serve(a, a6, b, "/192.0.2.3")
	both := map[string]int{"CNAME a.cdn.test.": 50, "CNAME b.cdn.test.": 50}
	w.wants("both serve", dns.TypeA, both)
	w.wants("any type", dns.TypeMX, both)
	w.wants("any type", dns.TypeCNAME, both)
	w.serve("down "+a, a6, b)
	w.wants("one address of two", dns.TypeAAAA, both)
	w.serve("down "+a, "down "+a6, b)
	w.wants("no address of a", dns.TypeA, map[string]int{"CNAME b.cdn.test.": 3})
	w.serve("down "+a, "down "+a6, "down "+b)
	w.wants("nobody", dns.TypeTXT, map[string]int{"SERVFAIL": 2})

	s := aliasSettings(func(d *config.Domain) { d.OnAllDown = string(policy.All) })
	w.must(w.p.Reconfigure(t.Context(), s, nil))
	w.wants("last resort", dns.TypeA, map[string]int{"CNAME a.cdn.test.": 5, "CNAME b.cdn.test.": 5})
	w.serve(a, b, "/192.0.2.3")
	w.must(w.p.Reconfigure(t.Context(), aliasSettings(func(d *config.Domain) { d.Answer = config.AnswerAddress }), nil))
	w.wants("addresses again", dns.TypeMX, map[string]int{"": 1})
	if n := len(w.p.View().Resolve("app.gslb.test.", dns.TypeA, false, netip.Addr{}, w.turns).Answer); n != 3 {
		t.Errorf("%d addresses, want 3", n)
	}
}

func TestAliases_ClientHashKeepsClientsToATarget(t *testing.T) {
	w := newAliases(t, aliasSettings(func(d *config.Domain) {
		d.RoutingAlgorithm, d.ClientHash = "client-hash", config.ClientHash{IPv4Prefix: 24, IPv6Prefix: 56}
	}))
	ask := func() (list []string) {
		for i := range 32 {
			r := w.p.View().Resolve("app.gslb.test.", dns.TypeA, false, netip.AddrFrom4([4]byte{10, 0, byte(i), 1}), w.turns)
			list = append(list, dns.Field(r.Answer[0], 1))
		}
		return list
	}
	w.serve("a.cdn.test/192.0.2.1", "b.cdn.test/192.0.2.2")
	before := ask()
	w.serve("a.cdn.test/198.51.100.9", "a.cdn.test/2001:db8::9", "b.cdn.test/192.0.2.8")
	if after := ask(); !slices.Equal(before, after) {
		t.Errorf("other addresses move clients: %v, %v", before, after)
	}
	if slices.Sort(before); len(slices.Compact(before)) != 2 {
		t.Errorf("all clients have %v: the test shows nothing", before)
	}
}

func TestAliases_AreExplained(t *testing.T) {
	w := newAliases(t, aliasSettings())
	w.serve("a.cdn.test/192.0.2.1", "down a.cdn.test/2001:db8::1", "down b.cdn.test/192.0.2.2")
	for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
		e, err := explain.Explain(w.p.View(), explain.Query{Name: "app.gslb.test", Family: family})
		w.must(err)
		if s := e.Selected(); s == nil || s.Target != "a.cdn.test" || s.Share != 1 || e.TTL != 10 ||
			!slices.Equal(e.Records, []string{"app.gslb.test. 10 IN CNAME a.cdn.test."}) {
			t.Errorf("%v: selected %+v, records %v, TTL %d", family, s, e.Records, e.TTL)
		}
		list, err := explain.ByRegion(w.p.View(), "app.gslb.test", family)
		if w.must(err); len(list) != 1 || list[0].Decision.Members[0].Name() != "a.cdn.test" {
			t.Errorf("by region: %+v", list)
		}
	}
	lines := strings.Join(explain.Lines(w.p.View(), "app.gslb.test", netip.Addr{}, false), "\n")
	for _, want := range []string{"CNAME: success by weighted, for 10 s",
		"192.0.2.1:443 (a.cdn.test) in no region has 100.0%",
		"not 192.0.2.2:443 (b.cdn.test)",
		"if 192.0.2.2:443 (b.cdn.test) were up: success with a.cdn.test 50.0%, b.cdn.test 50.0%"} {
		if strings.Count(lines, want) != 1 {
			t.Errorf("%q is not once in\n%s", want, lines)
		}
	}
	if again := "if [2001:db8::1]:443"; strings.Contains(lines, again) {
		t.Errorf("%q would change nothing:\n%s", again, lines)
	}
}

func TestAliases_NothingBesideAndNoApex(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*publish.Settings)
		want   []string
	}{
		"as it should be": {func(*publish.Settings) {}, nil},
		"a record beside": {func(s *publish.Settings) { s.DNS.Zones[0].Records = []string{"app TXT x", "x.app TXT x"} },
			[]string{`dns.zones[0].records[0]: "app TXT x": app.gslb.test. is a domain with answer: cname`}},
		"the apex": {func(s *publish.Settings) { s.DNS.Zones[0].Name = "app.gslb.test" },
			[]string{`domains[0].answer: "cname": app.gslb.test is the apex of a zone`, "give a name below it"}},
		"an apex of its own": {func(s *publish.Settings) { s.DNS.Zones = nil },
			[]string{`domains[0].answer: "cname": app.gslb.test is the apex`, "add the zone above it to dns.zones"}},
		"a wildcard": {func(s *publish.Settings) { s.DNS.Zones, s.Domains[0].Name = nil, "*.app.test" }, nil},
		"a nameserver": {func(s *publish.Settings) { s.DNS.Zones[0].Nameservers = []string{"app.gslb.test"} },
			[]string{`dns.zones[0].nameservers[0]: "app.gslb.test.": a nameserver must not be an alias`}},
	} {
		s := aliasSettings()
		c.change(&s)
		problems := publish.Check(s)
		text := ""
		for _, p := range problems {
			text += p.String() + "\n"
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", name, want, text)
			}
		}
		if (len(problems) == 0) != (c.want == nil) || len(problems) > 1 {
			t.Errorf("%s: %s", name, text)
		}
	}
}
