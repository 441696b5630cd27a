package httpapi // inside: it uses file

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

func TestRegion_IsCreatedUsedChangedAndDeleted(t *testing.T) {
	w := newWorld(t)
	made, err := w.client.CreateRegion(t.Context(),
		api.RegionChange{"name": "ap", "code": "AP-1", "latitude": 1.35, "longitude": 103.8, "continent": "AS",
			"countries": []string{"SG", "MY"}})
	w.must(err)
	if made.ID != "ap" || !made.Enabled || made.Source != "api" || made.Continent != "AS" || *made.Latitude != 1.35 ||
		len(made.Countries) != 2 {
		t.Errorf("created %+v", made)
	}
	if r := w.cfg.Load().Regions; len(r) != 3 || r[2].Name != "ap" || r[2].Continents[0] != "AS" ||
		*r[2].Longitude != 103.8 {
		t.Errorf("in force: %+v", r)
	}
	server, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "192.0.2.77", "port": 80, "region": "ap"})
	w.must(err)
	w.wantError("in use", w.send("DELETE", "/api/v1/regions/ap", ""), 409, "1 servers")
	w.must(w.client.DeleteServer(t.Context(), server.ID))
	patched, err := w.client.ChangeRegion(t.Context(), "ap", api.RegionChange{"priority": 7})
	if err != nil || patched.Priority != 7 || patched.Code != "AP-1" {
		t.Errorf("PATCH: %+v %v", patched, err)
	}
	if r := w.send("PUT", "/api/v1/regions/ap", `{"code":"x"}`); r.status != 200 ||
		!strings.Contains(r.body,
			`"code":"x","description":"","countries":[],"continents":[],"latitude":null,"longitude":null,"priority":0,`+
				`"enabled":true,"continent":""`) {
		t.Errorf("PUT: %d %s", r.status, r.body)
	}
	list, err := w.client.Regions(t.Context())
	if err != nil || list.Total != 3 || list.Regions[0].ServerCount != 2 || list.Regions[0].Source != "config" {
		t.Errorf("list %+v %v", list, err)
	}
	for query, want := range map[string]string{"?enabled=false": `"total":0`, "?continent=AS": `"total":0`,
		"?enabled=true&limit=1": `"total":3`} {
		w.want(query, w.send("GET", "/api/v1/regions"+query, ""), 200, want)
	}
	w.must(w.client.DeleteRegion(t.Context(), "ap"))
	w.wantError("gone", w.send("GET", "/api/v1/regions/ap", ""), 404)
	if stored, err := definitions.Load(w.store); err != nil || len(stored.Regions) != 0 {
		t.Errorf("on disk %+v %v", stored, err)
	}
}

// The display name of a region may change. Servers and domains contain its id.
func TestRegion_NameIsForPeople(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"name":"US East","code":"us-east"}`: "us-east", `{"name":"US  West (2)"}`: "us-west-2",
		`{"name":"ap","code":"AP"}`: "ap", `{"name":"Africa","code":"af"}`: "af", `{"name":"ME-1"}`: "ME-1",
		`{"name":"東京","code":"jp.1"}`: "jp.1",
	} {
		w.want(body, w.send("POST", "/api/v1/regions", body), 201, `"id":"`+want+`"`)
	}
	w.want("a domain in it", w.send("POST", "/api/v1/domains", `{"name":"x.example","regions":["us-east"]}`), 201)
	w.wantError("by its name", w.send("GET", "/api/v1/regions/US%20East", ""), 404, "did you mean us-east?")
	for method, name := range map[string]string{"PATCH": "US East (Ohio)", "PUT": "us-east"} {
		r := w.send(method, "/api/v1/regions/us-east", `{"name":"`+name+`"}`)
		if want := `{"id":"us-east","name":"` + name + `"`; r.status != 200 || !strings.HasPrefix(r.body, want) {
			t.Errorf("%s: %d %s", method, r.status, r.body)
		}
	}
	stored, err := definitions.Load(w.store)
	if w.must(err); len(stored.Regions) != 6 {
		t.Errorf("on disk %+v", stored.Regions)
	}
}

func TestRegion_RefusesWhatItCannotBe(t *testing.T) {
	w := newWorld(t)
	for body, word := range map[string]string{
		`{}`: "name is missing", `{"name":"a b","code":"c d"}`: `code is "c d"`, `{"name":"eu"}`: "exists",
		`{"name":"EU!"}`: "region eu exists", `{"name":"東京"}`: "give a code", `{"name":"  "}`: "name is missing",
		`{"name":"x","latitude":1}`:                    "both",
		`{"name":"x","latitude":91,"longitude":0}`:     "latitude is 91",
		`{"name":"x","latitude":9,"longitude":-180.5}`: "longitude is -180.5",
		`{"name":"x","continent":"XX"}`:                "continent",
		`{"name":"x","countries":["de"]}`:              `"de"`,
		`{"name":"x","countries":["DE","DE"]}`:         "is already countries[0]",
		`{"name":"x","priority":-1}`:                   "priority is -1",
		`{"name":"x","priority":1e40}`:                 "priority is 1e40: give a whole number",
		`{"name":"x","servers":[]}`:                    "servers",
		`{"name":"x","description":"\u0007"}`:          "description",
	} {
		w.wantError(body, w.send("POST", "/api/v1/regions", body), 400, word)
	}
	w.wantError("of the file", w.send("DELETE", "/api/v1/regions/eu", ""), 400, "configuration")
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		w.wantError(method, w.send(method, "/api/v1/regions/nowhere", `{"code":"x"}`), 404, "nowhere")
	}
	w.want("POST", w.send("POST", "/api/v1/regions", `{"name":"ap"}`), 201)
	w.want("a domain in it", w.send("POST", "/api/v1/domains", `{"name":"x.example","regions":["ap"]}`), 201)
	w.wantError("named by a domain", w.send("DELETE", "/api/v1/regions/ap", ""), 409, "x.example")
}

func TestMapping_IsNormalisedStoredAndDeletedInEitherSpelling(t *testing.T) {
	w := newWorld(t)
	w.defined.file.Overwatch.Geolocation.CustomMappings = []config.CustomMapping{
		{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "eu"}}
	for _, test := range []struct{ put, shown, path string }{
		{"192.0.2.0/24", "192.0.2.0/24", "192.0.2.0/24"},
		{"::ffff:198.51.100.0/120", "198.51.100.0/24", "198.51.100.0%2F24"},
		{"2001:DB8:0::/32", "2001:db8::/32", "2001:db8::%2f32"},
		{"::/0", "::/0", "0:0::0/0"},
	} {
		body := fmt.Sprintf(`{"cidr":%q,"region":"us"}`, test.put)
		w.want(test.put, w.send("PUT", "/api/v1/geo/mappings", body), 201, `"`+test.shown+`"`)
		w.want(test.put+" again", w.send("PUT", "/api/v1/geo/mappings", body), 200)
		w.want(test.put+" patched", w.send("PATCH", "/api/v1/geo/mappings", fmt.Sprintf(`{"cidr":%q,"comment":"c"}`,
			test.put)), 200, `"region":"us","comment":"c","source":"api"`)
		if len(w.cfg.Load().Overwatch.Geolocation.CustomMappings) != 2 {
			t.Errorf("in force: %v", w.cfg.Load().Overwatch.Geolocation)
		}
		w.want("DELETE "+test.path, w.send("DELETE", "/api/v1/geo/mappings/"+test.path, ""), 204)
		w.wantError("again", w.send("DELETE", "/api/v1/geo/mappings/"+test.path, ""), 404)
	}
	w.wantError("config", w.send("PUT", "/api/v1/geo/mappings", `{"cidr":"10.0.0.0/8","region":"us"}`), 400,
		"configuration")
	w.wantError("config", w.send("DELETE", "/api/v1/geo/mappings/10.0.0.0/8", ""), 400, "configuration")
	for _, path := range []string{"x", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/8/", "10.0.0.0%2F8%2F..", "%2e%2e", "%ff",
		"1.2.3.4/8%00", "192.0.2.77/24"} {
		w.wantError(path, w.send("DELETE", "/api/v1/geo/mappings/"+path, ""), 400, "cidr is")
	}
	for body, word := range map[string]string{
		`{"cidr":"1.2.3.4","region":"us"}`: "cidr is", `{"region":"us"}`: "cidr is",
		`{"cidr":"192.0.2.77/24","region":"us"}`:  "give 192.0.2.0/24, or 192.0.2.77/32",
		`{"cidr":"2001:db8::1/32","region":"us"}`: "give 2001:db8::/32", `{"cidr":"1.0.0.0/8"}`: "region is missing",
		`{"cidr":"1.0.0.0/8","region":"zz"}`:                  `"zz"`,
		`{"cidr":"fe80::%eth0/10","region":"us"}`:             "cidr is",
		`{"cidr":["1.0.0.0/8"],"region":"us"}`:                `cidr is ["1.0.0.0/8"]: give a network`,
		`{"cidr":"1.0.0.0/8","region":"us","comment":"a\nb"}`: "comment",
	} {
		w.wantError(body, w.send("PUT", "/api/v1/geo/mappings", body), 400, word)
	}
	w.wantError("PATCH of none", w.send("PATCH", "/api/v1/geo/mappings", `{"cidr":"1.0.0.0/8","region":"us"}`), 404)
}

func TestSection_ChangesLieOverTheFileUntilTheyAreDropped(t *testing.T) {
	w := newWorld(t)
	w.restart = []string{"overwatch.gossip", "dns.nsid"}
	got, err := w.client.ChangeDNSConfig(t.Context(),
		api.DNSConfigChange{DefaultTTL: new(77), ReturnLastHealthy: new(true)})
	if err != nil || got.Config.DefaultTTL != 77 || strings.Join(got.Overlay,
		",") != "default_ttl,return_last_healthy" ||
		len(got.RestartRequired) != 0 {
		t.Errorf("PATCH: %+v %v", got, err)
	}
	if c := w.cfg.Load().DNS; c.DefaultTTL != 77 || !c.ReturnLastHealthy {
		t.Errorf("in force: %+v", c)
	}
	if r := w.send("PUT", "/api/v1/config/dns", `{"default_ttl":77}`); r.status != 200 ||
		!strings.Contains(r.body, `"overlay":["default_ttl"]`) || w.cfg.Load().DNS.ReturnLastHealthy {
		t.Errorf("PUT: %d %s", r.status, r.body)
	}
	w.want("the whole answer as a body", w.send("PUT", "/api/v1/config/dns", w.send("GET", "/api/v1/config/dns",
		"").body), 400)
	if r := w.send("DELETE", "/api/v1/config/dns", ""); r.status != 204 || w.cfg.Load().DNS.DefaultTTL != 30 {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
	w.want("zones", w.send("PATCH", "/api/v1/config/dns",
		`{"zones":["B.example.","a.example"],"rate_limit_enabled":false}`), 200, `"rate_limit_qps":0`,
		`["b.example","a.example"]`)
	w.want("gossip", w.send("PUT", "/api/v1/gossip/config", `{"seeds":["one.example:7946"]}`), 200,
		`"restart_required":["overwatch.gossip"]`)
	if logs, err := w.client.ChangeLoggingConfig(t.Context(),
		api.LoggingConfigChange{Level: new("debug")}); err != nil ||
		logs.Config.Level != "debug" || w.cfg.Load().Logging.Level != "debug" {
		t.Errorf("logging: %+v %v", logs, err)
	}
	if checks, err := w.client.ChangeHealthCheckConfig(t.Context(),
		api.HealthCheckConfigChange{DefaultIntervalSeconds: new(7.5)}); err != nil ||
		checks.Config.DefaultIntervalSeconds != 7.5 {
		t.Errorf("checks: %+v %v", checks, err)
	}
	w.must(w.client.ResetConfig(t.Context(), "gossip"))
	if g, err := w.client.GossipSettings(t.Context()); err != nil || len(g.Overlay)+len(g.Config.Seeds) != 0 {
		t.Errorf("gossip after: %+v %v", g, err)
	}
}

func TestSection_RefusesWhatCannotBe(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct{ path, body, word string }{
		{"config/dns", `{"listen_address":["127.0.0.1:53"]}`, "listen_address"},
		{"config/dns", `{"enable_tcp":false}`, "enable_tcp"},
		{"config/dns", `{"default_ttl":-1}`, "default_ttl"},
		{"config/dns", `{"default_ttl":99999999999999999999}`,
			"default_ttl is 99999999999999999999: it must be a whole number of at most 64 bits"},
		{"config/dns", `{"default_ttl":1.5}`, "default_ttl is 1.5"},
		{"config/dns", `{"default_ttl":null}`, "default_ttl is null"},
		{"config/dns", `{"min_ttl":9,"max_ttl":8}`, "min_ttl"},
		{"config/dns", `{"max_ttl":0}`, "max_ttl"},
		{"config/dns", `{"negative_ttl":86401}`, "negative_ttl"},
		{"config/dns", `{"max_udp_size":4097}`, "max_udp_size"},
		{"config/dns", `{"zones":["-x"]}`, "zones[0]"},
		{"config/dns", `{"zones":["a.example","A.example."]}`, "zones[1]"},
		{"config/dns", `{"ttl":5}`, `"ttl"`},
		{"config/dns", `[]`, "JSON object"},
		{"config/logging", `{"level":"loud"}`, "level"},
		{"config/logging", `{"format":"xml"}`, "format"},
		{"config/health-check", `{"default_interval_seconds":0}`, "default_interval_seconds"},
		{"config/health-check", `{"default_interval_seconds":1e300}`, "out of range"},
		{"gossip/config", `{"probe_interval_ms":9223372036854775807}`, "out of range"},
		{"config/health-check", `{"default_timeout_seconds":60}`, "default_timeout_seconds"},
		{"config/health-check", `{"healthy_threshold":0}`, "healthy_threshold"},
		{"config/health-check", `{"unhealthy_threshold":1001}`, "unhealthy_threshold"},
		{"config/health-check", `{"max_concurrent_checks":0}`, "max_concurrent_checks"},
		{"config/health-check", `{"max_concurrent_checks":"9"}`, "max_concurrent_checks"},
		{"config/health-check", `{"default_protocol":"http"}`, "default_protocol"},
		{"gossip/config", `{"probe_timeout_ms":2000}`, "probe_timeout_ms"},
		{"gossip/config", `{"bind_port":1}`, "bind_port"},
		{"gossip/config", `{"seeds":["nowhere"]}`, "seeds[0]"},
		{"gossip/config", `{"encryption_key":"x"}`, "encryption_key"},
	} {
		r := w.send("PUT", "/api/v1/"+test.path, test.body)
		w.wantError(test.path+" "+test.body, r, 400, test.word)
	}
}

func TestPreferences_AreKeptAndChecked(t *testing.T) {
	w := newWorld(t)
	if p, err := w.client.Preferences(t.Context()); err != nil || p.Preferences.Theme != "auto" ||
		p.Preferences.UpdatedAt != nil {
		t.Errorf("at first: %+v %v", p, err)
	}
	w.want("PUT", w.send("PUT", "/api/v1/preferences", `{"theme":"dark","custom_settings":{"a":{"b":[1]}}}`), 200)
	p, err := w.client.ChangePreferences(t.Context(),
		api.PreferencesChange{Timezone: new("Europe/Berlin"), CustomSettings: map[string]any{"c": 1}})
	if err != nil || p.Preferences.Theme != "dark" || p.Preferences.Timezone != "Europe/Berlin" ||
		len(p.Preferences.CustomSettings) != 1 || p.Preferences.UpdatedAt == nil {
		t.Errorf("PATCH: %+v %v", p, err)
	}
	for body, word := range map[string]string{
		`{"theme":"pink"}`: `theme is "pink": it must be one of light, dark, auto`, `{"language":"e"}`: "language",
		`{"timezone":"../etc/passwd"}`: "timezone", `{"refresh_interval_seconds":-1}`: "refresh",
		`{"default_view":""}`:                                             "default_view",
		`{"date_format":"` + strings.Repeat("x", 65) + `"}`:               "date_format",
		`{"custom_settings":{"a":"` + strings.Repeat("x", 65<<10) + `"}}`: "custom_settings",
		`{"custom_settings":[]}`:                                          "custom_settings",
	} {
		w.wantError(body[:min(len(body), 60)], w.send("PUT", "/api/v1/preferences", body), 400, word)
	}
}

func TestConditional_ChangesOnlyWhatWasRead(t *testing.T) {
	w := newWorld(t)
	if r := w.send("POST", "/api/v1/domains", `{"name":"x.example"}`); r.status != 201 || r.header.Get("ETag") == "" {
		t.Fatalf("POST %d %s", r.status, r.body)
	}
	w.must(func() error {
		_, err := w.client.CreateRegion(t.Context(), api.RegionChange{"name": "ap"})
		return err
	}())
	server, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "192.0.2.77", "port": 80, "region": "eu"})
	w.must(err)
	w.must(func() error {
		_, err := w.client.SetOverride(t.Context(), service, "192.0.2.1",
			api.OverrideRequest{Healthy: new(true), Reason: "r"})
		return err
	}())
	for path, body := range map[string]string{
		"/api/v1/domains/x.example":                      `{"ttl":%d}`,
		"/api/v1/regions/ap":                             `{"priority":%d}`,
		"/api/v1/servers/" + server.ID:                   `{"weight":%d}`,
		"/api/v1/servers/" + server.ID + "/health-check": `{"healthy_threshold":%d}`,
		"/api/v1/config/dns":                             `{"default_ttl":%d}`,
		"/api/v1/preferences":                            `{"refresh_interval_seconds":%d}`,
		"/api/v1/overrides/" + service + "/192.0.2.1":    `{"reason":"r%d"}`,
	} {
		tag := w.send("GET", path, "").header.Get("ETag")
		if again := w.send("GET", path, "").header.Get("ETag"); tag == "" || again != tag {
			t.Errorf("%s: the tag is %q, then %q", path, tag, again)
		}
		r := w.send("PATCH", path, fmt.Sprintf(body, 5), "If-Match", `"other", `+tag)
		next := w.send("GET", path, "").header.Get("ETag")
		if r.status != 200 || r.header.Get("ETag") != next || next == tag {
			t.Errorf("%s: %d %s, tag %q, then %q", path, r.status, r.body, r.header.Get("ETag"), next)
		}
		w.wantError(path, w.send("PATCH", path, fmt.Sprintf(body, 6), "If-Match", tag), 412, next)
		w.wantError("weak", w.send("PATCH", path, fmt.Sprintf(body, 6), "If-Match", "W/"+next), 412)
		w.wantError("no tag", w.send("PATCH", path, fmt.Sprintf(body, 6), "If-Match", "abc"), 400, "If-Match")
		w.want(path+" with *", w.send("PATCH", path, fmt.Sprintf(body, 7), "If-Match", "*"), 200)
		if strings.HasSuffix(path, "health-check") || strings.HasSuffix(path, "preferences") {
			continue
		}
		w.wantError(path, w.send("DELETE", path, "", "If-Match", tag), 412)
	}
	w.wantError("creation only", w.send("PUT", "/api/v1/overrides/"+service+"/192.0.2.1",
		`{"healthy":true,"reason":"r"}`,
		"If-None-Match", "*"), 412)
	w.wantError("change only", w.send("PUT", "/api/v1/geo/mappings", `{"cidr":"10.0.0.0/8","region":"eu"}`, "If-Match",
		"*"), 412)
}

// If many clients change one object from the same state with a condition, exactly one succeeds. Without a condition,
// the last change wins completely.
func TestConditional_ConcurrentChangesLoseNothing(t *testing.T) {
	w := newWorld(t)
	server, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "192.0.2.77", "port": 80, "region": "eu"})
	w.must(err)
	for _, test := range []struct{ make, path, body string }{
		{`{"name":"x.example"}`, "/api/v1/domains/x.example", `{"ttl":%d,"description":"%d"}`},
		{"", "/api/v1/servers/" + server.ID, `{"weight":%d}`},
	} {
		if test.make != "" {
			w.send("POST", "/api/v1/domains", test.make)
		}
		tag := w.send("GET", test.path, "").header.Get("ETag")
		var done sync.WaitGroup
		statuses := make(chan int, 20)
		for i := range 20 {
			done.Go(func() {
				statuses <- w.send("PATCH", test.path, strings.ReplaceAll(test.body, "%d", fmt.Sprint(i+1)),
					"If-Match", tag).status
			})
		}
		done.Wait()
		close(statuses)
		count := map[int]int{}
		for status := range statuses {
			count[status]++
		}
		if count[200] != 1 || count[412] != 19 {
			t.Errorf("%s: %v", test.path, count)
		}
		for i := range 20 {
			done.Go(func() { w.send("PATCH", test.path, strings.ReplaceAll(test.body, "%d", fmt.Sprint(i+1))) })
		}
		done.Wait()
	}
	d, err := w.client.Domain(t.Context(), "x.example")
	if err != nil || fmt.Sprint(d.Domain.TTL) != d.Domain.Description {
		t.Errorf("two changes are mixed: %+v %v", d, err)
	}
}

func TestAudit_EntryAndChangeAreOneTransaction(t *testing.T) {
	w := newWorld(t)
	w.want("POST", w.send("POST", "/api/v1/domains", `{"name":"x.example"}`), 201)
	w.want("PATCH", w.send("PATCH", "/api/v1/domains/x.example", `{"ttl":0}`), 400)
	list, err := w.client.AuditLog(t.Context(), nil)
	w.must(err)
	if list.Total != 1 || list.Entries[0].Action != "create" || list.Entries[0].Status != "success" ||
		!strings.Contains(string(list.Entries[0].After), `"name":"x.example"`) {
		t.Errorf("got %+v", list.Entries)
	}
}

func TestValidate_ChecksATextByItself(t *testing.T) {
	w := newWorld(t)
	t.Setenv("GSLB_OVERWATCH_GOSSIP_ENCRYPTION_KEY", "not taken")
	const good = "mode: overwatch\noverwatch:\n  gossip:\n    encryption_key: " +
		"q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k=\n"
	v, err := w.client.ValidateConfig(t.Context(), []byte(good))
	if err != nil || !v.Valid || len(v.Errors) != 0 {
		t.Errorf("good: %+v %v", v, err)
	}
	for text, want := range map[string]string{
		"mode: overwatch\n":              "overwatch.gossip.encryption_key",
		"mode: agent\n":                  "mode",
		"a: [":                           "",
		"just text":                      "",
		good + "includes: [/etc/passwd]": "includes",
		"mode: overwatch\noverwatch: {gossip: {encryption_key_file: /etc/shadow}}\n": "overwatch.gossip.encryption_key_file",
		good + "dns: {default_ttl: -5}\n":                                            "dns.default_ttl",
		good + "domains: [{name: -x}]\n":                                             "domains[0].name",
	} {
		v, err := w.client.ValidateConfig(t.Context(), []byte(text))
		if err != nil || v.Valid || len(v.Errors) != 1 || v.Errors[0].Key != want || v.Errors[0].Message == "" {
			t.Errorf("%q: %+v %v", text, v, err)
		}
	}
	w.wantError("form", w.send("POST", "/api/v1/config/validate", "a: b", "Content-Type",
		"application/x-www-form-urlencoded"), 415, "application/yaml")
	w.wantError("empty", w.send("POST", "/api/v1/config/validate", ""), 400, "empty")
}

func TestConfigValidate_OneTextAfterTheOther(t *testing.T) {
	w := newWorld(t)
	w.server.checking <- struct{}{} // another text is in validation
	w.wantError("beside another", w.send("POST", "/api/v1/config/validate", "mode: overwatch", "Content-Type",
		"application/yaml"), 429, "try again")
	<-w.server.checking
	if v, err := w.client.ValidateConfig(t.Context(), []byte("mode: overwatch\n")); err != nil || v.Valid {
		t.Errorf("%+v %v", v, err)
	}
	if len(w.server.checking) > 0 {
		t.Error("a text that was checked holds up the next")
	}
}

func TestSystem_ShowsNoSecrets(t *testing.T) {
	w := newWorld(t)
	got, err := w.client.SystemConfig(t.Context())
	if err != nil || got.Config.NodeID != "node-1" || got.Config.Mode != "overwatch" || got.Config.ConfigPath == "" ||
		got.Config.DataDir == "" {
		t.Errorf("%+v %v", got, err)
	}
}
