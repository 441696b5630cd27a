package publish // inside: it shares reconfigure_test.go

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/model"
)

// record returns a record of the API in canonical form.
func record(t testing.TB, name, rtype, data string) *model.Record {
	t.Helper()
	rr, err := zonefile.Parse(name, rtype, data, 60)
	if err != nil {
		t.Fatal(err)
	}
	r := &model.Record{TTL: 60}
	r.Name, r.Type, r.Data = zonefile.Canonical(rr)
	return r
}

// withRecords returns the settings with more records, or without the records of keys.
func withRecords(s Settings, put []*model.Record, gone ...string) Settings {
	s.Records = s.Records.Edit()
	for _, r := range put {
		s.Records.Put(r.Key(), r)
	}
	for _, key := range gone {
		s.Records.Delete(key)
	}
	return s
}

// After any sequence of changes of records and domains, the answers and the omitted records equal those of a node that
// starts with the current settings.
func TestRecords_ChangesAreTheSameAsStartingAnew(t *testing.T) {
	for _, denial := range []string{"", config.DenialNSEC, config.DenialNSEC3} {
		t.Run("denial "+denial, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			s, b := changingSettings(denial), new(backends)
			b.set("app.gslb.test", "10.0.0.1")
			o := Options{Backends: b, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}
			if denial != "" {
				var err error
				if o.Signing, err = dnssec.Open(dnssec.Options{Dir: t.TempDir(), NodeID: "node-1",
					Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}); err != nil {
					t.Fatal(err)
				}
			}
			begin := func() *Publisher {
				o.Settings, o.Registerer = s, prometheus.NewRegistry()
				p, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			p := begin()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			defer func() { stop(); <-ended }()
			names := append([]string{"static.gslb.test", "q.static.gslb.test", "nx.elsewhere.test"}, comeAndGo...)
			datas := map[string][]string{"TXT": {"a", "b", "c"}, "A": {"192.0.2.1", "192.0.2.2"},
				"CNAME": {"x.gslb.test", "y.gslb.test"}}
			domains := map[string]config.Domain{}
			for i := range 40 {
				for range 1 + random.IntN(4) {
					name := names[random.IntN(len(names))]
					rtype := []string{"TXT", "TXT", "A", "CNAME"}[random.IntN(4)]
					r := record(t, name, rtype, datas[rtype][random.IntN(len(datas[rtype]))])
					if r.UpdatedAt = time.Unix(int64(i), 0); random.IntN(3) == 0 {
						s = withRecords(s, nil, r.Key())
					} else {
						s = withRecords(s, []*model.Record{r})
					}
				}
				if i%3 == 0 {
					before := maps.Clone(domains)
					if name := comeAndGo[random.IntN(len(comeAndGo))]; domains[name].Name == "" {
						domains[name] = config.Domain{Name: name, RoutingAlgorithm: "weighted", TTL: 10 + random.IntN(5)}
					} else {
						delete(domains, name)
					}
					s.Domains = slices.SortedFunc(maps.Values(domains),
						func(a, b config.Domain) int { return strings.Compare(a.Name, b.Name) })
					if len(Check(s)) > 0 {
						domains = before
						s.Domains = slices.SortedFunc(maps.Values(domains),
							func(a, b config.Domain) int { return strings.Compare(a.Name, b.Name) })
					}
				}
				if err := p.Reconfigure(ctx, s, nil); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				anew := begin()
				if got, want := everything(p.View()), everything(anew.View()); got != want {
					t.Fatalf("step %d: %s", i, firstDifference(got, want))
				}
				got, want := maps.Collect(p.Omitted().All()), maps.Collect(anew.Omitted().All())
				if !maps.Equal(got, want) || p.plan.api.longest() != anew.plan.api.longest() {
					t.Fatalf("step %d: omitted %v, want %v", i, got, want)
				}
			}
			if p.plan.api.owners.Len() == 0 || p.Omitted().Len() == 0 || p.Omitted().Len() == s.Records.Len() {
				t.Errorf("%d records, %d omitted: the test needs both", s.Records.Len(), p.Omitted().Len())
			}
		})
	}
}

// With RefuseOmitted, a change that would not be served, or would displace a served record, is a problem that names the
// conflicting object. Records that were omitted before do not block other changes.
func TestRecords_ConflictsAreRefused(t *testing.T) {
	s := changingSettings("")
	s.DNS.Zones[0].Records = append(s.DNS.Zones[0].Records, "alias8 CNAME alias9")
	s.Domains = []config.Domain{{Name: "app.gslb.test", RoutingAlgorithm: "weighted"}}
	s = withRecords(s, []*model.Record{record(t, "app.gslb.test", "A", "192.0.2.1"),
		record(t, "here.gslb.test", "TXT", "here"), record(t, "next.gslb.test", "A", "192.0.2.2"),
		record(t, "c1.gslb.test", "CNAME", "c2.gslb.test"), record(t, "c2.gslb.test", "CNAME", "c3.gslb.test")})
	p, err := New(Options{Settings: s, Backends: new(backends), Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Omitted().Len() != 1 {
		t.Errorf("omitted: %v", maps.Collect(p.Omitted().All()))
	}
	s.RefuseOmitted = true
	long := []*model.Record{}
	for i := range zone.MaxAliases + 1 {
		long = append(long, record(t, fmt.Sprintf("l%d.gslb.test", i), "CNAME", fmt.Sprintf("l%d.gslb.test", i+1)))
	}
	wide := []*model.Record{}
	for i := range 300 {
		wide = append(wide, record(t, "wide.gslb.test", "TXT", fmt.Sprintf("%0250d", i)))
	}
	domains := func(names ...string) Settings {
		next := s
		for _, name := range names {
			next.Defined = append(next.Defined, config.Domain{Name: name, RoutingAlgorithm: "weighted"})
		}
		return next
	}
	one := func(name, rtype, data string) Settings {
		return withRecords(s, []*model.Record{record(t, name, rtype, data)})
	}
	for _, c := range []struct {
		about string
		next  Settings
		want  string // in the problem; "": no problem
	}{
		{"another record", one("new.gslb.test", "TXT", "x"), ""},
		{"the same type again", one("here.gslb.test", "TXT", "more"), ""},
		{"text of a load-balanced name", one("app.gslb.test", "TXT", "x"), ""},
		{"an address of a load-balanced name", one("app.gslb.test", "A", "192.0.2.2"),
			"app.gslb.test. is a load-balanced domain"},
		{"a record of the file", one("text.gslb.test", "TXT", "y"), "has records of text.gslb.test. with the type TXT"},
		{"beside an alias of the file", one("www.gslb.test", "TXT", "y"), "an alias has no other records"},
		{"outside of zones", one("www.elsewhere.test", "TXT", "y"), "add its zone to dns.zones"},
		{"a refused type", one("ns.gslb.test", "NS", "ns.example"), "NS records do not go here"},
		{"an alias beside a record", one("here.gslb.test", "CNAME", "next.gslb.test"), "here.gslb.test TXT"},
		{"a record beside an alias", one("c1.gslb.test", "TXT", "x"), "c1.gslb.test TXT"},
		{"a second alias", one("c1.gslb.test", "CNAME", "next.gslb.test"), "a name has one alias"},
		{"a circle", one("c3.gslb.test", "CNAME", "c1.gslb.test"), "aliases in a circle"},
		{"a circle with itself", one("self.gslb.test", "CNAME", "self.gslb.test"), "aliases in a circle"},
		{"a long chain", withRecords(s, long), "aliases in a row"},
		{"a long chain from its end", withRecords(s, slices.Concat(long[1:], long[:1])), "aliases in a row"},
		{"a chain of the greatest length", withRecords(s, long[1:]), ""},
		{"a large set", withRecords(s, wide), "exceed the size of an answer"},
		{"a domain over an address", domains("next.gslb.test"), "next.gslb.test. is a load-balanced domain"},
		{"a domain over text", domains("here.gslb.test"), ""},
	} {
		n := new(next)
		p.build(n, c.next)
		if got := fmt.Sprint(n.err); (c.want == "") != (n.err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.about, got, c.want)
		}
	}
}

// The serial of the zone increases with each change of a record, and not without a change.
func TestRecords_ChangeTheSerial(t *testing.T) {
	s := changingSettings("")
	at := time.Unix(1_000_000, 0)
	p, err := New(Options{Settings: s, Backends: new(backends), Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop(), Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, "here.gslb.test", "TXT", "here")
	serial := func() uint32 { return p.plan.byApex["gslb.test."].SOA.Serial }
	last, child := serial(), p.plan.byApex["child.gslb.test."].SOA.Serial
	for i, wanted := range []Settings{withRecords(s, []*model.Record{r}), withRecords(s, []*model.Record{r}), s,
		withRecords(s, []*model.Record{record(t, "here.gslb.test", "TXT", "there")})} {
		n := new(next)
		p.build(n, wanted)
		if err := p.publishNext(t.Context(), n, nil); err != nil {
			t.Fatal(err)
		}
		if same := i == 1; (serial() == last) != same {
			t.Errorf("change %d: the serial was %d and is %d", i, last, serial())
		}
		last = serial()
	}
	if p.plan.byApex["child.gslb.test."].SOA.Serial != child {
		t.Error("the serial of another zone has changed")
	}
}
