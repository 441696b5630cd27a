package definitions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// Servers with host names become servers of the configuration, except servers in a missing region, servers of the file,
// and servers that this version cannot read.
func TestTargets_AreJoinedAsServersAndTheFileWins(t *testing.T) {
	f := file()
	f.Regions[0].Servers = []config.Server{{Service: "a.example", Target: "file.test", Port: 80, Weight: 1}}
	f.Regions[0].HealthCheck = &config.HealthCheck{Type: "http", Path: "/up"}
	s := setOf(&model.Region{Name: "off"})
	s.Settings = map[string]json.RawMessage{
		"target a.example:lb.test:443": json.RawMessage(`{"region":"eu","weight":7,"agent":"one",` +
			`"allowed_cidrs":["10.0.0.0/8"],"health_check":{"path":"/own"}}`),
		"target a.example:file.test:80":    json.RawMessage(`{"region":"eu","weight":9}`),
		"target a.example:nowhere.test:80": json.RawMessage(`{"region":"ap","weight":9}`),
		"target a.example:off.test:80":     json.RawMessage(`{"region":"off","weight":9}`),
		"target a.example:heavy.test:80":   json.RawMessage(`{"region":"eu","weight":9000}`),
	}
	var got []config.StaticServer
	joined := s.Join(f, definitions.NamesIn(f))
	for server := range joined.StaticServers() {
		got = append(got, server)
	}
	if len(got) != 3 || got[2].Target.Name != "off.test" || got[0].Made || got[0].Weight != 1 || !got[1].Made ||
		got[1].Target.Name != "lb.test" ||
		got[1].Weight != 7 || got[1].Region != "eu" || got[1].Agent != "one" || len(got[1].Target.Allowed) != 1 {
		t.Fatalf("servers %+v", got)
	}
	if spec := got[1].Check.Value(); spec.Type != check.HTTP || spec.Path != "/own" {
		t.Errorf("its check is %+v", spec)
	}
	if s.CountOverlays() != 0 {
		t.Errorf("%d objects of the file are said to be overlaid", s.CountOverlays())
	}
	if over, err := s.Over(f); err == nil {
		t.Errorf("the server with too great a weight was laid over the file: %+v", over)
	}
}

// An overlay of an object of the file publishes all names, and a server with a host name does not.
func TestTargets_AreAKindOfTheirOwnAmongChanges(t *testing.T) {
	f, none := file(), set()
	d := none.Edit(f, f, definitions.NamesIn(f))
	id, err := definitions.NewTargetID("a.example", "lb.test", 443)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.PutTarget(&model.Server{Service: id.Service, Target: id.Name, Port: id.Port, Region: "eu",
		Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if batch, kinds := none.Changes(d.Set()); batch.Empty() || kinds != (definitions.Kinds{Targets: true}) {
		t.Errorf("the kinds are %+v", kinds)
	}
}

func TestCheckOverlay_RefusesServersByHostNameThatCannotBe(t *testing.T) {
	for _, one := range []struct{ name, value, words string }{
		{"a.example:lb.test:443", `{"region":"eu","weight":1}`, ""},
		{"a.example:LB.test:443", `{"region":"eu","weight":1}`, `it must be "a.example:lb.test:443"`},
		{"a.example:192.0.2.1:443", `{"region":"eu","weight":1}`, "this is an address"},
		{"a.example:192.0.2.300:443", `{"region":"eu","weight":1}`, "ends in a number"},
		{"a.example:lb.test:0", `{"region":"eu","weight":1}`, "port is 0"},
		{"a.example:lb.test:x", `{"region":"eu","weight":1}`, "no number"},
		{"lb.test", `{"region":"eu","weight":1}`, "<service>:<host name>:<port>"},
		{"a.example:lb.test:443", `{"region":"eu","weight":0}`, "weight is 0"},
		{"a.example:lb.test:443", `{"region":"eu","weight":1,"agent":"a b"}`, "agent"},
		{"a.example:lb.test:443", `{"region":"eu","weight":1,"allowed_cidrs":["10.1.0.0/8"]}`, "allowed_cidrs[0]"},
		{"a.example:lb.test:443", `{"region":"eu","weight":1,"health_check":{"interval":"x"}}`, "interval"},
		{"a.example:lb.test:443", `[]`, "cannot be read"},
	} {
		err := definitions.CheckOverlay("target "+one.name, json.RawMessage(one.value))
		if (err == nil) != (one.words == "") || err != nil && !strings.Contains(err.Error(), one.words) {
			t.Errorf("%s %s: %v, want %q", one.name, one.value, err, one.words)
		}
	}
}

// A stored or received server with a host name is refused, or it can be served.
func FuzzTarget(f *testing.F) {
	f.Add("a.example:lb.test:443", `{"region":"eu","weight":7,"allowed_cidrs":["10.0.0.0/8"]}`)
	f.Add("a.example:lb.test:443", `{"region":"eu","weight":7,"health_check":{"type":"http","interval":"1s"}}`)
	f.Fuzz(func(t *testing.T, name, value string) {
		if id, err := definitions.ParseTargetID(name); err == nil {
			if again, err := definitions.ParseTargetID(id.String()); err != nil || again != id {
				t.Errorf("%q is read as %q, and that as %q: %v", name, id, again, err)
			}
		}
		key := "target " + name
		sound := definitions.CheckOverlay(key, json.RawMessage(value)) == nil
		s := &definitions.Set{Settings: map[string]json.RawMessage{key: json.RawMessage(value)}}
		c := file()
		for server := range s.Join(c, definitions.NamesIn(c)).StaticServers() {
			if !sound || server.Weight < 1 || server.Port == 0 || server.Target.Name == "" {
				t.Errorf("%q %s became %+v", name, value, server)
			}
		}
	})
}
