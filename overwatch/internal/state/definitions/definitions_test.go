package definitions_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

func file() *config.Config {
	c := config.Default()
	c.Regions = []config.Region{{Name: "eu", Enabled: true}}
	c.Domains = []config.Domain{{Name: "a.example", Regions: []string{"eu"}}}
	c.DNS.Zones = []config.Zone{{Name: "example", Admin: "a@example"}}
	c.Overwatch.Geolocation.CustomMappings = []config.CustomMapping{
		{CIDR: netip.MustParsePrefix("10.1.0.0/8"), Region: "eu"}}
	return c
}

// domain returns an enabled domain with regions and default values.
func domain(name string, regions ...string) *model.Domain {
	d := model.New[model.Domain]()
	d.Name, d.Regions = name, regions
	return d
}

func set() *definitions.Set {
	s := setOf(domain("a.example"), domain("b.example", "ap", "gone", "eu"), &model.Domain{Name: "off.example"},
		&model.Region{Name: "eu", Enabled: true, Priority: 1}, &model.Region{Name: "ap", Enabled: true, Priority: 9},
		&model.Region{Name: "af", Enabled: true, Priority: 3}, &model.Region{Name: "off"},
		&model.Mapping{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "ap"},
		&model.Mapping{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Region: "ap"},
		&model.Mapping{CIDR: netip.MustParsePrefix("198.51.100.0/24"), Region: "off"})
	s.Settings = map[string]json.RawMessage{}
	return s
}

// setOf returns a Set with objects.
func setOf(objects ...model.Object) *definitions.Set {
	d := new(definitions.Set).Edit(nil, nil, nil)
	for _, o := range objects {
		d.Put(o)
	}
	return d.Set()
}

// Objects of the file replace API objects of the same name, and objects that refer to a missing region are omitted.
func TestJoin_TheFileWinsAndNothingNamesWhatIsNotThere(t *testing.T) {
	f := file()
	before, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	joined := set().Join(f, definitions.NamesIn(f))
	var regions, domains []string
	for _, r := range joined.Regions {
		regions = append(regions, r.Name)
	}
	for d := range joined.AllDomains {
		domains = append(domains, d.Name)
	}
	if !slices.Equal(regions, []string{"eu", "af", "ap"}) || !slices.Equal(domains, []string{"a.example", "b.example"}) ||
		!slices.Equal(joined.Defined()[0].Regions, []string{"ap", "eu"}) {
		t.Errorf("regions %v, domains %v, defined %v", regions, domains, joined.Defined())
	}
	if joined.Regions[2].Priority != 9 {
		t.Errorf("the priority of ap is %d", joined.Regions[2].Priority)
	}
	if &joined.Domains[0] != &f.Domains[0] {
		t.Error("the domains of the file, which may be 100 000, were copied")
	}
	if m := joined.Overwatch.Geolocation.CustomMappings; len(m) != 2 ||
		m[1].CIDR != netip.MustParsePrefix("192.0.2.0/24") {
		t.Errorf("mappings %v", m)
	}
	if after, _ := json.Marshal(f); string(after) != string(before) {
		t.Error("the file was changed")
	}
	if shown := set().Unhidden(f, definitions.NamesIn(f)); len(shown.Domains) != 2 || len(shown.Regions) != 3 ||
		len(shown.Mappings) != 2 {
		t.Errorf("shown: %+v", shown)
	}
}

func TestDraft_LeavesTheSetThatItCameFromAlone(t *testing.T) {
	s := set()
	d := s.Edit(file(), file(), definitions.NamesIn(file()))
	d.Delete(model.KindDomain, "b.example")
	d.Put(&model.Region{Name: "new"})
	d.PutSetting(definitions.Preferences, json.RawMessage(`{}`))
	if s.Domains["b.example"] == nil || s.Regions["new"] != nil || s.Settings[definitions.Preferences] != nil {
		t.Errorf("the set has changed: %+v", s)
	}
	changes, kinds := s.Changes(d.Set())
	if changes.Empty() || !kinds.Domains || !kinds.Regions || !kinds.Settings || !kinds.Answers || kinds.Targets {
		t.Errorf("changes: %+v", kinds)
	}
	changes, kinds = s.Changes(s.Edit(file(), file(), definitions.NamesIn(file())).Set())
	if !changes.Empty() || kinds != (definitions.Kinds{}) {
		t.Errorf("no change is %+v", kinds)
	}
}

// A setting with the value of the file is removed from the overlay, and other settings of a zone in the file stay.
func TestLay_KeepsWhatDiffersFromTheFile(t *testing.T) {
	f, s := file(), set()
	lay := func(edit func(*api.DNSConfig)) error {
		over, err := s.Over(f)
		if err != nil {
			t.Fatal(err)
		}
		d := s.Edit(over, f, nil)
		wanted := definitions.View(definitions.DNS, over).(*api.DNSConfig)
		edit(wanted)
		err = d.PutSection(definitions.DNS, wanted)
		s = d.Set()
		return err
	}
	for _, step := range []struct {
		edit func(*api.DNSConfig)
		want string
	}{
		{func(c *api.DNSConfig) { c.DefaultTTL = 60 }, `{"default_ttl":60}`},
		{func(c *api.DNSConfig) { c.Zones = []string{"Other.", "example"} },
			`{"default_ttl":60,"zones":["Other.","example"]}`},
		{func(c *api.DNSConfig) { c.DefaultTTL = 30 }, `{"zones":["other","example"]}`},
		{func(c *api.DNSConfig) { c.Zones = []string{"example"} }, ``},
		// negative_ttl follows default_ttl until it has its own value
		{func(c *api.DNSConfig) { c.DefaultTTL = 60 }, `{"default_ttl":60}`},
		{func(c *api.DNSConfig) { c.MaxTTL = 90 }, `{"default_ttl":60,"max_ttl":90}`},
		{func(c *api.DNSConfig) { c.NegativeTTL = 5 }, `{"default_ttl":60,"max_ttl":90,"negative_ttl":5}`},
		{func(c *api.DNSConfig) { c.DefaultTTL, c.MaxTTL = 5, 1<<31-1 }, `{"default_ttl":5,"negative_ttl":5}`},
		{func(c *api.DNSConfig) { c.DefaultTTL, c.NegativeTTL = 30, 30 }, ``},
	} {
		if err := lay(step.edit); err != nil || string(s.Settings[definitions.DNS]) != step.want {
			t.Errorf("got %s, %v, want %s", s.Settings[definitions.DNS], err, step.want)
		}
		over, err := s.Over(f)
		if err != nil || over.DNS.Zones[len(over.DNS.Zones)-1].Admin != "a@example" {
			t.Errorf("zones %+v, %v", over.DNS.Zones, err)
		}
	}
	if err := lay(func(c *api.DNSConfig) { c.EnableUDP = false }); err == nil || len(s.Settings) != 0 {
		t.Errorf("a setting that cannot be changed: %v, %v", err, s.Settings)
	}
}

// Without a rate, the rate limiter cannot be enabled, because it would have no effect.
func TestPutSection_RefusesALimiterWithoutARate(t *testing.T) {
	for _, step := range []struct {
		inFile  int
		changes []func(*api.DNSConfig)
		refused bool // the last change
		want    int  // responses per second in force
	}{
		{0, []func(*api.DNSConfig){on}, true, 0},
		{0, []func(*api.DNSConfig){func(c *api.DNSConfig) { c.RateLimitEnabled, c.RateLimitQPS = true, 7 }}, false, 7},
		{1000, []func(*api.DNSConfig){off, on}, false, 1000},
		{1000, []func(*api.DNSConfig){func(c *api.DNSConfig) { c.RateLimitQPS = 500 }, off, on}, true, 0},
		{1000, []func(*api.DNSConfig){func(c *api.DNSConfig) { c.RateLimitQPS = 0 }}, false, 0},
	} {
		f, s := file(), set()
		f.DNS.RateLimit.ResponsesPerSecond = step.inFile
		var last error
		for _, change := range step.changes {
			now := inForce(t, s, f)
			d, wanted := s.Edit(now, f, nil), definitions.View(definitions.DNS, now).(*api.DNSConfig)
			change(wanted)
			last = d.PutSection(definitions.DNS, wanted)
			s = d.Set()
		}
		if got := inForce(t, s, f).DNS.RateLimit.ResponsesPerSecond; (last != nil) != step.refused || got != step.want {
			t.Errorf("%d in the file, %d changes: %d a second, %v", step.inFile, len(step.changes), got, last)
		}
	}
}

func inForce(t *testing.T, s *definitions.Set, file *config.Config) *config.Config {
	t.Helper()
	c, err := s.Over(file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func on(c *api.DNSConfig)  { c.RateLimitEnabled = true }
func off(c *api.DNSConfig) { c.RateLimitEnabled = false }

func TestView_ShowsWhereGossipListens(t *testing.T) {
	for bind, want := range map[string]string{"127.0.0.1:7946": "127.0.0.1", ":7946": "::", "[::1]:7946": "::1"} {
		c := config.Default()
		c.Overwatch.Gossip.BindAddress = bind
		if g := definitions.View(definitions.Gossip, c).(*api.GossipConfig); g.BindAddress != want || g.BindPort != 7946 {
			t.Errorf("%s: %s %d, want %s", bind, g.BindAddress, g.BindPort, want)
		}
	}
}

// No domain or mapping lists a disabled region of the file, and overlays of servers and domains do not enable it.
func TestOver_ADisabledRegionOfTheFileIsListedByNobody(t *testing.T) {
	f, s := file(), set()
	f.Regions = append(f.Regions, config.Region{Name: "us", Enabled: true})
	f.Domains = append(f.Domains, config.Domain{Name: "c.example", Regions: []string{"us", "eu"}})
	s.Mappings["192.0.2.0/24"].Region = "eu"
	s.Settings[definitions.OverlayKey(definitions.OverRegion, "eu")] = json.RawMessage(`{"fields":{"enabled":false}}`)
	s.Settings[definitions.OverlayKey(definitions.OverDomain, "a.example")] =
		json.RawMessage(`{"fields":{"regions":["eu","us"]}}`)
	over, err := s.Over(f)
	if err != nil {
		t.Fatal(err)
	}
	joined := s.Join(over, definitions.NamesIn(f))
	for d := range joined.AllDomains {
		if slices.Contains(d.Regions, "eu") {
			t.Errorf("%s lists %v", d.Name, d.Regions)
		}
	}
	for _, m := range joined.Overwatch.Geolocation.CustomMappings[1:] {
		if m.Region == "eu" {
			t.Errorf("%v", m)
		}
	}
	if len(joined.Regions) != 4 || joined.Regions[0].Enabled || !joined.Regions[1].Enabled {
		t.Errorf("%+v", joined.Regions)
	}
	if !f.Regions[0].Enabled || len(f.Domains[1].Regions) != 2 {
		t.Errorf("the file itself changed: %+v", f.Domains[1])
	}
}

// No domain lists a region that the file disables, unless a value of the API enables it.
func TestOver_ARegionThatTheFileDisablesIsListedByNobody(t *testing.T) {
	f := file()
	f.Regions[0].Enabled, f.Domains[0].Enabled = false, true
	for value, listed := range map[string]int{"": 0, `{"fields":{"enabled":true}}`: 1} {
		s := &definitions.Set{}
		if value != "" {
			s.Settings = map[string]json.RawMessage{"region eu": json.RawMessage(value)}
		}
		over, err := s.Over(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := over.Domains[0].Regions; len(got) != listed || over.Regions[0].Enabled != (listed == 1) {
			t.Errorf("with %q, the domain lists %v: %+v", value, got, over.Regions[0])
		}
	}
}

// FuzzOver merges any stored overlay with a file: the result is an error or a valid configuration, and never a panic.
func FuzzOver(f *testing.F) {
	for _, seed := range []string{`{"default_ttl":5}`, `{"zones":null}`, `[]`, `{"zones":["a","a"]}`,
		`{"rate_limit_qps":1e9}`, `null`, `{"x":1}`} {
		f.Add(definitions.DNS, seed)
	}
	f.Add(definitions.Gossip, `{"probe_interval_ms":-9223372036854775808}`)
	f.Add(definitions.HealthCheck, `{"default_interval_seconds":1e308}`)
	f.Add(definitions.Logging, `{"level":7}`)
	f.Fuzz(func(t *testing.T, section, overlay string) {
		if !slices.Contains(definitions.Sections(), section) {
			return
		}
		s := &definitions.Set{Settings: map[string]json.RawMessage{section: json.RawMessage(overlay)}}
		over, err := s.Over(file())
		if err == nil {
			_ = definitions.Check(section, over)
			_ = definitions.Fields(s.Settings[section])
		}
	})
}

// The API's settings of proximity, client-hash and pools have the same effect as in the file, and omitted settings have
// the same defaults.
func TestJoin_TunesDomainsAndRegionsAsAFileDoes(t *testing.T) {
	tuned := domain("a.example")
	tuned.ToleranceKm, tuned.IPv4Prefix, tuned.SRV = 7.5, 20, []string{"_sip._tcp"}
	tuned.HTTPS = model.HTTPS{ALPN: []string{"h2"}, Port: 8443}
	s := setOf(tuned, domain("b.example"),
		&model.Region{Name: "fra", Enabled: true, RoutingAlgorithm: "latency", ProximityBias: -20})
	c := s.Join(new(config.Config), nil)
	var want config.Domain
	want.SetDefaults()
	want.Proximity.ToleranceKm, want.ClientHash.IPv4Prefix = 7.5, 20
	if got := c.Defined()[0]; got.Proximity != want.Proximity || got.ClientHash != want.ClientHash ||
		got.HTTPS.Port != 8443 || len(got.HTTPS.ALPN)+len(got.SRV) != 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.SetDefaults()
	if got := c.Defined()[1]; got.Proximity != want.Proximity || got.ClientHash != want.ClientHash {
		t.Errorf("%+v, want the defaults", got)
	}
	if r := c.Regions[0]; r.RoutingAlgorithm != "latency" || r.ProximityBias != -20 {
		t.Errorf("%+v", r)
	}
}
