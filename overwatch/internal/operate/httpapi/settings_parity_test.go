package httpapi // inside: it uses the world of the package's tests

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// everySetting has a value other than the default for each setting that is valid in the same domain.
const everySetting = `"routing_algorithm":"latency","regions":["us"],"ttl":7,"max_answers":3,"on_all_down":"all",` +
	`"geofence":"strict","min_healthy":"50%","failover_threshold":2,"fallback_algorithm":"client-hash",` +
	`"latency_config":{"smoothing_factor":0.5,"max_latency_ms":90,"min_samples":9},"proximity_tolerance_km":5,` +
	`"client_hash_ipv4_prefix":20,"client_hash_ipv6_prefix":48,` +
	`"brake":{"enabled":false,"share":"40%","window":"30s","hold":"5m0s"},"https":{"alpn":["h2"],"port":8443},` +
	`"recovery":{"ramp":"10m0s"},"flap":{"delay":"1m0s","max_delay":"10m0s"},"failback":"manual",` +
	`"srv":["_sip._tcp"],"description":"the shop","tags":["shop"]`

// without contains the settings that everySetting cannot contain: they need another node or exclude other settings.
var without = map[string]bool{"name": true, "dnssec_enabled": true, "answer": true, "enabled": true}

// Every declared setting of a domain is accepted and shown for a domain of the API, over a domain of the file, and in a
// document.
func TestDomain_EverySettingIsAvailableInEachPlace(t *testing.T) {
	w := newWorld(t)
	w.want("new", w.send("POST", "/api/v1/domains", `{"name":"shop.example",`+everySetting+`}`), 201)
	w.want("overlay", w.send("PATCH", "/api/v1/domains/www.example", `{`+everySetting+`}`), 200)
	doc := w.send("GET", "/api/v1/document", "").body
	for _, name := range []string{"shop.example", "www.example"} {
		shown := w.send("GET", "/api/v1/domains/"+name, "").body
		for _, field := range model.Patch[model.Domain](nil).Declared().Names(model.FromOperator) {
			if without[field] {
				continue
			}
			at := strings.Index(everySetting, `"`+field+`":`)
			if at < 0 {
				t.Fatalf("everySetting lacks the setting %s: add it", field)
			}
			value := everySetting[at:]
			value = value[:strings.IndexAny(value[1:], ",]}")+1]
			if !strings.Contains(shown, value) {
				t.Errorf("%s: %s is not shown: %s", name, value, shown)
			}
			if !strings.Contains(doc, `"`+field+`":`) {
				t.Errorf("the document lacks %s: %s", field, doc)
			}
		}
	}
}

// everyRegionSetting has a value other than the default for each setting of a region.
const everyRegionSetting = `"name":"Western Europe","code":"euw","description":"Frankfurt","countries":["DE","FR"],` +
	`"continents":["EU","AS"],"latitude":50.1,"longitude":8.7,"routing_algorithm":"latency","proximity_bias":-20,` +
	`"priority":7,"enabled":false,"health_check":{"type":"tcp","unhealthy_threshold":4},"tags":["edge","gold"]`

// Every declared setting of a region is accepted and shown for a region of the API, over a region of the file, and in a
// document, and null resets it.
func TestRegion_EverySettingIsAvailableInEachPlace(t *testing.T) {
	w := newWorld(t)
	w.want("new", w.send("POST", "/api/v1/regions", `{`+everyRegionSetting+`}`), 201)
	w.want("overlay", w.send("PATCH", "/api/v1/regions/eu", `{`+everyRegionSetting+`}`), 200)
	doc := w.send("GET", "/api/v1/document", "").body
	resets := `{"latitude":null,"longitude":null`
	for _, field := range model.Patch[model.Region](nil).Declared().Names(model.FromOperator) {
		at := strings.Index(everyRegionSetting, `"`+field+`":`)
		if at < 0 {
			t.Fatalf("everyRegionSetting lacks the setting %s: add it", field)
		}
		value, _, _ := strings.Cut(everyRegionSetting[at:], `,"`)
		for _, id := range []string{"euw", "eu"} {
			if shown := w.send("GET", "/api/v1/regions/"+id, "").body; !strings.Contains(shown, value) {
				t.Errorf("%s: %s is not shown: %s", id, value, shown)
			}
		}
		if !strings.Contains(doc, value) {
			t.Errorf("the document lacks %s: %s", value, doc)
		}
		if field != "latitude" && field != "longitude" {
			resets += `,"` + field + `":null`
		}
	}
	w.want("reset", w.send("PATCH", "/api/v1/regions/euw", resets+`}`), 200, `"name":"euw"`, `"code":""`,
		`"countries":[],"continents":[],"latitude":null,"longitude":null,"priority":0,"enabled":true`)
	if r := w.send("PATCH", "/api/v1/regions/eu", resets+`}`); r.status != 200 || strings.Contains(r.body, "overlay") {
		t.Errorf("the values of the file: %d %s", r.status, r.body)
	}
}

// Every declared setting of a mapping is accepted and shown for a mapping of the API and in a document, and null resets
// it.
func TestMapping_EverySettingIsAvailableInEachPlace(t *testing.T) {
	w := newWorld(t)
	const settings = `"cidr":"192.0.2.0/24","region":"us","comment":"the office"`
	w.want("new", w.send("PUT", "/api/v1/geo/mappings", `{`+settings+`}`), 201)
	list, doc := w.send("GET", "/api/v1/geo/mappings", "").body, w.send("GET", "/api/v1/document", "").body
	for _, field := range model.Patch[model.Mapping](nil).Declared().Names(model.FromOperator) {
		at := strings.Index(settings, `"`+field+`":`)
		if at < 0 {
			t.Fatalf("settings lacks the setting %s: add it", field)
		}
		value, _, _ := strings.Cut(settings[at:], `,"`)
		if !strings.Contains(list, value) || !strings.Contains(doc, value) {
			t.Errorf("%s is not shown: %s %s", value, list, doc)
		}
	}
	w.want("reset", w.send("PATCH", "/api/v1/geo/mappings", `{"cidr":"192.0.2.0/24","comment":null}`), 200, `"comment":""`)
	w.wantError("unknown", w.send("PUT", "/api/v1/geo/mappings", `{"cidr":"192.0.2.0/24","region":"us","weight":1}`), 400,
		"unknown field")
}

// An overlay over a region is stored with the one continent that version 0.9.0 knows.
func TestOverlay_OfARegionIsStoredForVersion090(t *testing.T) {
	w := newWorld(t)
	w.want("PATCH", w.send("PATCH", "/api/v1/regions/eu", `{"continent":"EU,AS","name":"eu"}`), 200,
		`"fields":{"continents":["EU","AS"]}`, `"configured":{"continents":[]}`)
	set, _ := w.defined.Defined()
	stored := string(set.Settings["region eu"])
	if !strings.Contains(stored, `"continent":"EU","continents":["EU","AS"]`) {
		t.Error(stored)
	}
	w.want("one", w.send("PATCH", "/api/v1/regions/eu", `{"continents":["NA"]}`), 200, `"fields":{"continents":["NA"]}`)
	set, _ = w.defined.Defined()
	if stored := string(set.Settings["region eu"]); !strings.Contains(stored, `"fields":{"continent":"NA"}`) {
		t.Error(stored)
	}
}

// In a merge patch null resets a field to its default, and members of an object that the patch omits stay
// (RFC 7396 section 2).
func TestDomain_NullResetsAFieldAndObjectsMerge(t *testing.T) {
	w := newWorld(t)
	w.want("new", w.send("POST", "/api/v1/domains", `{"name":"shop.example",`+everySetting+`}`), 201)
	for _, name := range []string{"shop.example", "www.example"} {
		path := "/api/v1/domains/" + name
		w.want("merge", w.send("PATCH", path, `{"latency_config":{"max_latency_ms":80},"max_answers":4}`), 200)
		w.want("merge", w.send("PATCH", path, `{"latency_config":{"min_samples":8}}`), 200,
			`"max_latency_ms":80,"min_samples":8`, `"max_answers":4`)
		w.want("null", w.send("PATCH", path, `{"max_answers":null,"latency_config":null,"routing_policy":"failover",`+
			`"fallback_algorithm":null}`), 200, `"max_answers":1`, `"max_latency_ms":500`, `"routing_policy":"failover"`)
	}
	w.wantError("both names", w.send("PATCH", "/api/v1/domains/shop.example",
		`{"routing_policy":"failover","routing_algorithm":"weighted"}`), 400, "the same field as routing_algorithm")
	w.wantError("an owner", w.send("PATCH", "/api/v1/domains/shop.example", `{"owner":"me"}`), 400, "unknown field")
}

// An overlay has only values that differ from the file, even inside a block, so that a later value of the file counts.
// Regions in another case are regions of the file.
func TestOverlay_HasNoValueOfTheFile(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/domains/www.example"
	w.want("one of two differs", w.send("PATCH", path, `{"latency_config":{"min_samples":8,"max_latency_ms":500}}`), 200,
		`"fields":{"latency_config":{"min_samples":8}}`)
	w.want("other regions", w.send("PATCH", path, `{"regions":["EU"]}`), 200, `"regions":["eu"]`)
	r := w.send("PATCH", path, `{"latency_config":{"min_samples":3},"regions":["EU","us"],"tags":[]}`)
	if r.status != 200 || strings.Contains(r.body, "overlay") {
		t.Errorf("the values of the file: %d %s", r.status, r.body)
	}
}

// A document takes the name of version 0.9.0 for the routing algorithm, and is exported with the one of the file.
func TestDocument_TakesBothNamesOfTheRoutingAlgorithm(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: api.Document{Domains: []api.DocumentDomain{
		{"name": "a.example", "routing_policy": "failover"}, {"name": "b.example", "routing_algorithm": "failover"}}}}, 2)
	doc := w.send("GET", "/api/v1/document", "").body
	if strings.Count(doc, `"routing_algorithm":"failover"`) != 2 || strings.Contains(doc, "routing_policy") {
		t.Error(doc)
	}
}

// A server, by address or by host name, is created with its health check in one request.
func TestServers_AreCreatedWithTheirHealthCheck(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/servers"
	w.want("address", w.send("POST", path, `{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu",`+
		`"health_check":{"type":"http","path":"/up","interval":"7s","timeout":"2s"}}`), 201)
	w.want("its check", w.send("GET", path+"/app.example:192.0.2.9:80/health-check", ""), 200, `"path":"/up"`,
		`"interval":"7s"`)
	w.want("host name", w.send("POST", path, `{"service":"app.example","target":"lb.example.net","port":80,`+
		`"region":"eu","health_check":{"type":"http","path":"/up"}}`), 201)
	doc := w.send("GET", "/api/v1/document", "").body
	if strings.Count(doc, `"path":"/up"`) != 2 {
		t.Error(doc)
	}
	for _, target := range []string{`"address":"192.0.2.8"`, `"target":"lc.example.net"`} {
		w.wantError(target, w.send("POST", path, `{"service":"app.example",`+target+`,"port":80,"region":"eu",`+
			`"health_check":{"type":"magic"}}`), 400, "magic")
	}
}

// An overlay is stored with the field names of version 0.9.0, so that nodes of both versions apply it.
func TestOverlay_IsStoredForVersion090(t *testing.T) {
	w := newWorld(t)
	w.want("PATCH", w.send("PATCH", "/api/v1/domains/www.example", `{"routing_algorithm":"weighted"}`), 200,
		`"fields":{"routing_algorithm":"weighted"}`)
	set, _ := w.defined.Defined()
	if stored := string(set.Settings["domain www.example"]); !strings.Contains(stored, `"routing_policy":"weighted"`) {
		t.Error(stored)
	}
}
