package control_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

func peerObject(kind, name, value string) *replica.Object {
	return &replica.Object{Key: replica.Key{Kind: kind, Name: name}, Value: json.RawMessage(value)}
}

const (
	soundDomain = `{"name":"app.example","ttl":30,"routing_policy":"geolocation","fallback_algorithm":"round-robin",` +
		`"regions":["eu"],"enabled":true,"tags":["web"]}`
	soundOrder = `{"service":"app.example","address":"192.0.2.1:80","reason":"planned","source":"api","weight":7}`
)

// An object that the API could have made is accepted.
func TestCheckObject_AcceptsWhatTheAPIMakes(t *testing.T) {
	for _, o := range []*replica.Object{
		peerObject(store.KindDomain, "app.example", soundDomain),
		peerObject(store.KindDomain, "*.example", `{"name":"*.example","routing_policy":"round-robin","regions":null}`),
		peerObject(store.KindRegion, "eu", `{"name":"eu","label":"Europe","countries":["DE"],"continent":"EU"}`),
		peerObject(store.KindMapping, "192.0.2.0/24", `{"cidr":"192.0.2.0/24","region":"eu"}`),
		peerObject(store.KindAgent, "agent-1", `{"id":"agent-1","address":"192.0.2.7","port":7946}`),
		peerObject(store.KindServer, "app.example 192.0.2.1:80",
			`{"service":"app.example","address":"192.0.2.1","port":80,"weight":1,"check":{"Type":"tcp"}}`),
		peerObject(store.KindOverride, "app.example 192.0.2.1:80", soundOrder),
		peerObject(store.KindWeight, "app.example 192.0.2.1:80", soundOrder),
		peerObject(store.KindDrain, "app.example 192.0.2.1:80",
			`{"service":"app.example","address":"192.0.2.1:80","reason":"","share":0.5,"over":30000000000}`),
		peerObject(store.KindOverride, "app.example 192.0.2.1",
			`{"service":"app.example","address":"192.0.2.1","reason":"down"}`),
		peerObject(store.KindSetting, "dns", `{"default_ttl":60}`),
		peerObject(store.KindSetting, "domain app.example", `{"fields":{"ttl":7,"fallback_algorithm":"round-robin"}}`),
		peerObject(store.KindSetting, "region eu", `{"fields":{"latitude":7}}`),
		peerObject(store.KindSetting, "server app.example:192.0.2.1:80", `{"fields":{"weight":7}}`),
		peerObject(store.KindRevocation, "agent-1", `{"agent_id":"agent-1","revoked":true}`),
		peerObject(store.KindLock, "app.example", `{"service":"app.example","tokens":[]}`),
		peerObject(store.KindFailback, "app.example main", `{"domain":"app.example","region":"main"}`),
	} {
		if err := control.CheckObject(o); err != nil {
			t.Errorf("%s %s: %v", o.Kind, o.Name, err)
		}
	}
}

// An object that the API would have refused is rejected.
func TestCheckObject_RejectsWhatTheAPIRefuses(t *testing.T) {
	edit := func(from, what, with string) string { return strings.Replace(from, what, with, 1) }
	for _, c := range []struct{ kind, value, want string }{
		{store.KindDomain, edit(soundDomain, `"ttl":30`, `"ttl":-5`), "ttl is -5"},
		{store.KindDomain, edit(soundDomain, `geolocation`, `coin-toss`), "routing_algorithm is"},
		{store.KindDomain, edit(soundDomain, `round-robin`, `coin-toss`), "fallback_algorithm is"},
		{store.KindDomain, edit(soundDomain, `app.example`, `a\u0000b.example`), "name is"},
		{store.KindDomain, edit(soundDomain, `app.example`, `App.example`), "name is"},
		{store.KindDomain, edit(soundDomain, `"web"`, `"a\u0000b"`), "tags[0] is"},
		{store.KindDomain, edit(soundDomain, `"ttl":30`, `"description":"a\nb"`), "description is"},
		{store.KindDomain, edit(soundDomain, `"ttl":30`, `"answer":"mx"`), "answer is"},
		{store.KindDomain, edit(soundDomain, `"ttl":30`, `"min_healthy":"none"`), "min_healthy is"},
		{store.KindDomain, edit(soundDomain, `"ttl":30`, `"client_hash_ipv4_prefix":99`), "client_hash_ipv4_prefix is"},
		{store.KindDomain, `[]`, "cannot be read"},
		{store.KindRegion, `{"name":"e u"}`, "id is"},
		{store.KindRegion, `{"name":"eu","priority":-1}`, "priority is"},
		{store.KindRegion, `{"name":"eu","latitude":100,"longitude":0}`, "latitude is"},
		{store.KindRegion, `{"name":"eu","countries":["XX1"]}`, "countries[0] is"},
		{store.KindRegion, `{"name":"eu","health_check":{"type":"smoke"}}`, "health_check.type"},
		{store.KindRegion, `{"name":"eu","health_check":{"type":"tcp","interval":"-5s"}}`, "health_check.interval"},
		{store.KindMapping, `{"cidr":"192.0.2.1/24","region":"eu"}`, "cidr is"},
		{store.KindMapping, `{"cidr":"192.0.2.0/24","region":""}`, "region is"},
		{store.KindAgent, `{"id":"a b"}`, "name is"},
		{store.KindAgent, `{"id":"a","port":70000}`, "port is"},
		{store.KindServer, `{"service":"app.example","address":"192.0.2.1","port":80,"weight":0}`, "weight is"},
		{store.KindServer, `{"service":"app.example","address":"0.0.0.0","port":80,"weight":1}`, "address 0.0.0.0"},
		{store.KindServer, `{"service":"App.example","address":"192.0.2.1","port":80,"weight":1}`, "canonical form"},
		{store.KindWeight, edit(soundOrder, `"weight":7`, `"weight":-7`), "weight of"},
		{store.KindWeight, edit(soundOrder, `:80`, ``), "the port is missing"},
		{store.KindOverride, edit(soundOrder, `planned`, ` `), "reason is missing"},
		{store.KindDrain, edit(soundOrder, `"weight":7`, `"share":1`), "share"},
		{store.KindSetting, `{"fields":{"ttl":-5}}`, "ttl is -5"},
		{store.KindRevocation, `{"agent_id":"a\u0000b","revoked":true}`, "agent_id is"},
		{store.KindLock, `{"service":""}`, "service is"},
		{store.KindFailback, `{"domain":"App.example.","region":"main"}`, "domain is"},
		{store.KindFailback, `{"domain":"app.example","region":"m ain"}`, "region is"},
	} {
		if err := control.CheckObject(peerObject(c.kind, "domain app.example", c.value)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.kind, c.value, err)
		}
	}
}

// The node checks health checks in settings of a peer like those of the API. A check with an interval of 0 or less
// would stop the node.
func TestCheckObject_ChecksTheHealthChecksOfSettings(t *testing.T) {
	const server, target = "server app.example:192.0.2.1:80", "target app.example:origin.example.net:80"
	for _, c := range []struct{ name, value, want string }{
		{server, `{"fields":{"health_check":{"interval":"1s"}}}`, ""},
		{server, `{"fields":{"health_check":{"timeout":"20s"}}}`, ""},
		{server, `{"fields":{"health_check":{"type":"tcp","path":"","enabled":false}}}`, ""},
		{server, `{"fields":{"health_check":{"path":""}}}`, ""},
		{server, `{"fields":{"health_check":{"expected_status":"200"}}}`, ""},
		{server, `{"fields":{"health_check":{"interval":"-5s"}}}`, "interval"},
		{server, `{"fields":{"health_check":{"interval":"1ns","timeout":"1ns"}}}`, "interval"},
		{server, `{"fields":{"health_check":{"type":"smoke"}}}`, "type"},
		{server, `{"fields":{"health_check":{"path":"no slash"}}}`, "path"},
		{server, `{"fields":{"health_check":{"healthy_threshold":-1}}}`, "success_threshold"},
		{"region eu", `{"fields":{"health_check":{"interval":"1s"}}}`, ""},
		{"region eu", `{"fields":{"health_check":{"interval":"-5s"}}}`, "interval"},
		{"region eu", `{"fields":{"health_check":{"address":"192.0.2.1"}}}`, "health_check.address"},
		{target, `{"weight":7,"region":"eu","health_check":{"type":"grpc","path":"","interval":"5s","timeout":"2s"}}`,
			""},
		{target, `{"weight":7,"health_check":{"interval":"-5s"}}`, "interval"},
		{target, `{"weight":7,"region":"e u"}`, "region"},
		{target, `{"weight":7,"owner":"a\nb"}`, "owner"},
	} {
		err := control.CheckObject(peerObject(store.KindSetting, c.name, c.value))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.name, c.value, err)
		}
	}
}

// The check of any object of a peer ends, and an accepted object can be merged with a configuration.
func FuzzCheckObject(f *testing.F) {
	f.Add(store.KindDomain, "app.example", []byte(soundDomain))
	f.Add(store.KindWeight, "app.example 192.0.2.1:80", []byte(soundOrder))
	f.Add(store.KindRegion, "eu", []byte(`{"name":"eu","countries":["DE"],"latitude":1,"longitude":2}`))
	f.Add(store.KindMapping, "192.0.2.0/24", []byte(`{"cidr":"192.0.2.0/24","region":"eu"}`))
	f.Add(store.KindSetting, "server app.example:192.0.2.1:80", []byte(`{"fields":{"weight":7}}`))
	f.Add(store.KindServer, "app.example 192.0.2.1:80",
		[]byte(`{"service":"app.example","address":"192.0.2.1","port":80,"weight":1,"check":{"Type":"http"}}`))
	f.Add(store.KindRevocation, "agent-1", []byte(`{"agent_id":"agent-1","revoked":true}`))
	f.Fuzz(func(t *testing.T, kind, name string, value []byte) {
		o := peerObject(kind, name, string(value))
		o.Version.Node = "b"
		if !json.Valid(value) || o.Check() != nil || !store.Readable(o) || control.CheckObject(o) != nil {
			return
		}
		joinPeerObject(t, o)
	})
}

// joinPeerObject merges an accepted object with a configuration, as a node does.
func joinPeerObject(t *testing.T, o *replica.Object) {
	t.Helper()
	file, d := &config.Config{}, new(definitions.Set).Edit(nil, nil, nil)
	if kind := definitions.Find(o.Kind); kind != nil {
		_ = kind.Define(d, o.Name, o.Value) // the error is the reason of an object without effect
	}
	switch o.Kind {
	case store.KindServer:
		restore.Servers([]model.Server{decodePeer[model.Server](t, o)}, zerolog.Nop())
	case store.KindOverride, store.KindWeight, store.KindDrain:
		if order, err := restore.OrderOf(decodePeer[store.Order](t, o)); err != nil {
			t.Errorf("%s %q: %v", o.Kind, o.Value, err)
		} else if _, err := registry.NewID(order.Service, order.Address, 1); err != nil {
			t.Errorf("%s %q: %v", o.Kind, o.Value, err)
		}
	}
	set := d.Set()
	if over, err := set.Over(file); err == nil {
		set.Join(over, definitions.NamesIn(file))
	}
}

func decodePeer[T any](t *testing.T, o *replica.Object) (value T) {
	t.Helper()
	if err := json.Unmarshal(o.Value, &value); err != nil {
		t.Fatalf("%s %q: %v", o.Kind, o.Value, err)
	}
	return value
}
