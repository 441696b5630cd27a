package httpapi // inside: it uses changes and refusal

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

func TestDomain_IsCreatedChangedAndDeleted(t *testing.T) {
	w := newWorld(t)
	ttl, off, text := 20, false, "the shop"
	made, err := w.client.CreateDomain(t.Context(),
		api.DomainChange{"name": "Shop.Example.", "ttl": ttl, "description": text, "regions": []string{"us", "eu"}})
	w.must(err)
	if d := made.Domain; d.Name != "shop.example" || d.TTL != 20 || d.Description != text || !d.Enabled ||
		d.RoutingPolicy != "round-robin" || d.Settings == nil {
		t.Errorf("created %+v", d)
	}
	policy := "failover"
	changed, err := w.client.ChangeDomain(t.Context(), "shop.example",
		api.DomainChange{"routing_algorithm": policy, "enabled": off})
	w.must(err)
	if d := changed.Domain; d.TTL != 20 || d.Description != text || d.Enabled || d.RoutingPolicy != "failover" {
		t.Errorf("changed %+v", d)
	}
	w.want("PATCH", w.send("PATCH", "/api/v1/domains/shop.example",
		`{"routing_policy":"proximity","fallback_algorithm":"client-hash"}`), 200, `"fallback_algorithm":"client-hash"`)
	w.wantError("a policy without use for the fallback",
		w.send("PATCH", "/api/v1/domains/shop.example", `{"routing_policy":"failover"}`), 400, "remove it")
	if r := w.send("PATCH", "/api/v1/domains/shop.example",
		`{"routing_policy":"failover","fallback_algorithm":""}`); r.status != 200 ||
		strings.Contains(r.body, "fallback_algorithm") {
		t.Errorf("PATCH: %d %s", r.status, r.body)
	}
	if r := w.send("PATCH", "/api/v1/domains/shop.example",
		`{"routing_policy":"proximity","fallback_algorithm":"client-hash","proximity_tolerance_km":12.5,`+
			`"client_hash_ipv4_prefix":16}`); r.status != 200 ||
		!strings.Contains(r.body, `"proximity_tolerance_km":12.5,"client_hash_ipv4_prefix":16,"client_hash_ipv6_prefix":56`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.send("PATCH", "/api/v1/domains/shop.example",
		`{"routing_policy":"failover","fallback_algorithm":""}`); r.status != 200 ||
		!strings.Contains(r.body, `"client_hash_ipv4_prefix":16`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	w.want("PATCH", w.send("PATCH", "/api/v1/domains/shop.example", `{"min_healthy":"50%"}`), 200, `"min_healthy":"50%"`)
	const https, srv = `"https":{"alpn":["h2","h3"],"port":8443}`, `"srv":["_sip._tcp"]`
	for _, name := range []string{"shop.example", "app.example"} { // of the API, and of the file
		w.want("PATCH", w.send("PATCH", "/api/v1/domains/"+name, "{"+https+","+srv+"}"), 200, https, srv)
		w.want("they went with another field", w.send("PATCH", "/api/v1/domains/"+name, `{"ttl":9}`), 200, https, srv)
		if r := w.send("PATCH", "/api/v1/domains/"+name, `{"https":{"alpn":[]},"srv":[]}`); r.status != 200 ||
			strings.Contains(r.body, "h3") || strings.Contains(r.body, "_sip") {
			t.Errorf("taken away: %d %s", r.status, r.body)
		}
	}
	if list, err := w.client.Domains(t.Context()); err != nil || list.Total != 3 {
		t.Errorf("one that is switched off is not listed: %+v, %v", list, err)
	}
	w.want("PUT", w.send("PUT", "/api/v1/domains/shop.example", `{"enabled":true}`), 200, `"routing_policy":"failover"`)
	if stored, err := definitions.Load(w.store); err != nil || len(stored.Domains) != 1 ||
		!stored.Domains["shop.example"].Enabled || strings.Join(stored.Domains["shop.example"].Regions, ",") != "us,eu" {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
	w.want("a backend of it", w.send("POST", "/api/v1/domains/shop.example/backends",
		`{"address":"192.0.2.9","port":80}`), 201)
	w.must(w.client.DeleteDomain(t.Context(), "shop.example"))
	w.wantError("after", w.send("GET", "/api/v1/domains/shop.example", ""), 404)
}

func TestDomain_RefusesWhatItCannotBe(t *testing.T) {
	w := newWorld(t)
	for body, words := range map[string]string{
		`{}`:                                         "name is",
		`{"name":"-a"}`:                              `name is "-a"`,
		`{"name":"a.example","ttl":0}`:               "ttl is 0",
		`{"name":"a.example","ttl":1e99}`:            "ttl is 1e99: give a whole number",
		`{"name":"a.example","regions":["x"]}`:       `region is "x": it must be one of eu, us`,
		`{"name":"a.example","regions":["eu","eu"]}`: "keep one",
		`{"name":"a.example","routing_policy":"fastest"}`: `routing_algorithm is "fastest": no such algorithm; known are ` +
			`round-robin, weighted, `,
		`{"name":"a.example","routing_policy":"latency","fallback_algorithm":"x"}`: `fallback_algorithm is "x"`,
		`{"name":"a.example","routing_policy":"latency",` +
			`"fallback_algorithm":"latency"}`: "is the routing_algorithm: give another",
		`{"name":"a.example","routing_policy":"weighted","fallback_algorithm":"latency"}`: "weighted never lacks data",
		`{"name":"a.example","proximity_tolerance_km":-1}`:                                "proximity_tolerance_km is -1",
		`{"name":"a.example","proximity_tolerance_km":20039}`:                             "from 0 to 20038",
		`{"name":"a.example","client_hash_ipv4_prefix":33}`: "client_hash_ipv4_prefix is " +
			"33: give a number from 8 to 32",
		`{"name":"a.example","client_hash_ipv6_prefix":0}`:          "from 16 to 64",
		`{"name":"a.example","client_hash_ipv6_prefix":"48"}`:       `client_hash_ipv6_prefix is "48"`,
		`{"name":"a.example","min_healthy":"0"}`:                    `min_healthy is "0"`,
		`{"name":"a.example","min_healthy":"101%"}`:                 "from 1% to 100%",
		`{"name":"a.example","min_healthy":2}`:                      "min_healthy is 2: give a string",
		`{"name":"a.example","dnssec_enabled":true}`:                "overwatch.dnssec.enabled is false",
		`{"name":"a.example","description":"\n"}`:                   "description",
		`{"name":"a.example","https":{"port":443}}`:                 "https.alpn is",
		`{"name":"a.example","https":{"alpn":["h2"],"port":65536}}`: `https.port is 65536: give a number`,
		`{"name":"a.example","https":{"alpn":["h2"],"ech":"x"}}`:    `https.ech is "x"`,
		`{"name":"a.example","https":{"alpn":["h2"],"x":1}}`:        "https.x: unknown field: known are alpn",
		`{"name":"a.example","https":{"alpn":"h2"}}`:                `alpn`,
		`{"name":"a.example","srv":["sip"]}`:                        `srv[0] is "sip": give a service and its protocol`,
		`{"name":"a.example","srv":"_sip._tcp"}`:                    "srv is",
		`{"name":"*.a.example","srv":["_sip._tcp"]}`:                "without an asterisk",
		`{"name":"a.example","backend_count":1}`:                    "backend_count: unknown field",
	} {
		w.wantError(body, w.send("POST", "/api/v1/domains", body), 400, words)
	}
	w.wantError("exists", w.send("POST", "/api/v1/domains", `{"name":"app.example"}`), 409, "app.example")
	w.wantError("of the file", w.send("DELETE", "/api/v1/domains/app.example", ""), 400, "configuration")
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		w.wantError(method, w.send(method, "/api/v1/domains/none.example", `{"ttl":9}`), 404)
	}
	w.defined.refusal = settings.Problems{{Value: "a.example", Message: "a CNAME has that name"}}
	w.wantError("does not go with the zones", w.send("POST", "/api/v1/domains", `{"name":"a.example"}`), 400, "CNAME")
	w.defined.refusal = fmt.Errorf("domain: %w", store.ErrNotDurable)
	w.wantError("full disk", w.send("POST", "/api/v1/domains", `{"name":"a.example"}`), 507)
	w.defined.refusal = nil
	w.want("POST", w.send("POST", "/api/v1/domains", `{"name":"a.example"}`), 201)
	w.wantError("another name", w.send("PUT", "/api/v1/domains/a.example", `{"name":"b.example"}`), 400, "cannot change")
}

func TestReload_TellsWhatChangedAndWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	if r := w.send("POST", "/api/v1/config/reload", ""); r.status != 200 ||
		r.body != `{"reloaded":true,"changes":[],"restart_required":[]}`+"\n" {
		t.Errorf("nothing changed: %d %s", r.status, r.body)
	}
	w.reloads.changes, w.reloads.restart = []string{"domains"}, []string{"api"}
	if done, err := w.client.Reload(t.Context()); err != nil || !done.Reloaded || done.Changes[0] != "domains" ||
		done.RestartRequired[0] != "api" {
		t.Errorf("got %+v, %v", done, err)
	}
	w.reloads.err = settings.Problems{{Key: "domains[0].ttl", Value: "-1", Message: "must not be negative"}}
	w.wantError("a wrong file", w.send("POST", "/api/v1/config/reload", ""), 400, "domains[0].ttl")
}

func TestGossipKey_IsOfTheRightSizeAndNeverTheSame(t *testing.T) {
	w := newWorld(t)
	one, err := w.client.GenerateGossipKey(t.Context())
	w.must(err)
	other, err := w.client.GenerateGossipKey(t.Context())
	w.must(err)
	raw, err := base64.StdEncoding.DecodeString(one.Key)
	if err != nil || len(raw) != 32 || one.Key == other.Key || one.Algorithm != "AES-256-GCM" || one.Bits != 256 {
		t.Errorf("got %+v and %+v, %v", one, other, err)
	}
	if strings.Contains(w.log.String(), one.Key) {
		t.Error("the key is in the log")
	}
}

// An unsigned domain is stored and exported as unsigned. A node that signs no zones does not store this setting.
func TestDomain_UnsignedIsKeptWhereTheNodeSigns(t *testing.T) {
	for _, signs := range []bool{true, false} {
		w := newWorld(t, func(o *Options) {
			if signs {
				o.SigningKeys = signingKeys()
			}
		})
		r := w.send("POST", "/api/v1/domains", `{"name":"a.example","dnssec_enabled":false}`)
		doc := w.send("GET", "/api/v1/document", "")
		if r.status != 201 || !strings.Contains(r.body, `"dnssec_enabled":false`) ||
			strings.Contains(doc.body, `"dnssec_enabled":false`) != signs {
			t.Errorf("signs %t: %d %s\n%s", signs, r.status, r.body, doc.body)
		}
		if !signs {
			continue
		}
		w.want("signed again", w.send("PATCH", "/api/v1/domains/a.example", `{"dnssec_enabled":true}`), 200,
			`"dnssec_enabled":true`)
	}
}
