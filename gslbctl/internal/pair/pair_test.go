package pair

import (
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func plan() Plan {
	return Plan{Zone: "gslb.example.com", Region: DefaultRegion, Overwatch: []string{"ow1.example.net"}, Check: DefaultCheck, DNS: ":53", Gossip: "0.0.0.0:7946", API: "127.0.0.1:8080",
		Services: []Service{{Name: "app", Backends: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:8080")}}}}
}

func TestWrite_PairMatchesAndIsTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	p := plan()
	p.Check = `http:/he"al: th` // must be refused: a blank
	if _, _, err := Write(dir, p); err == nil {
		t.Error("a path with a blank is taken")
	}
	p.Check = `http:/he"alth:{{.}}`
	p.Services = append(p.Services, Service{Name: "SHOP.gslb.example.com.", Backends: []netip.AddrPort{netip.MustParseAddrPort("[2001:db8::1]:443")}},
		Service{Name: "app", Backends: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.11:8080")}})
	files, done, err := Write(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Services) != 2 || done.Services[1].Name != "shop.gslb.example.com" || len(done.Services[0].Backends) != 2 {
		t.Errorf("services %+v", done.Services)
	}
	read := func(path string) (value map[string]any) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &value); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, text)
		}
		if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return value
	}
	at := func(value any, keys ...string) any {
		for _, key := range keys {
			value = value.(map[string]any)[key]
		}
		return value
	}
	overwatch, agent := read(files.Overwatch), read(files.Agent)
	if key := at(overwatch, "overwatch", "gossip", "encryption_key"); key != at(agent, "agent", "gossip", "encryption_key") || len(key.(string)) != 44 {
		t.Error("the gossip keys differ or are not 32 bytes")
	}
	tokens, given := at(overwatch, "overwatch", "agent_tokens").(map[string]any), at(agent, "agent", "identity", "service_tokens").(map[string]any)
	if len(tokens) != 2 || tokens["app.gslb.example.com"] != given["app.gslb.example.com"] || tokens["app.gslb.example.com"] == tokens["shop.gslb.example.com"] {
		t.Error("the tokens differ between the files or are the same for two services")
	}
	backends := at(agent, "agent", "backends").([]any)
	if len(backends) != 3 || at(backends[0], "health_check", "path") != `/he"alth:{{.}}` || at(backends[2], "address") != "2001:db8::1" {
		t.Errorf("backends %v", backends)
	}

	before, _ := os.ReadFile(files.Overwatch)
	if _, _, err := Write(dir, p); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second time: %v", err)
	}
	if after, _ := os.ReadFile(files.Overwatch); string(after) != string(before) {
		t.Error("a file that was there is changed")
	}
	if err := os.Remove(files.Overwatch); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Write(dir, p); err == nil {
		t.Error("agent.yaml is there and nothing is said")
	}
	if _, err := os.Stat(files.Overwatch); err == nil {
		t.Error("half a pair is left")
	}
}

func TestWrite_RefusesWhatNoNodeCouldRun(t *testing.T) {
	for words, spoil := range map[string]func(*Plan){
		"--zone":                 func(p *Plan) { p.Zone = "" },
		"cannot be a part":       func(p *Plan) { p.Zone = "a..b" },
		"--region":               func(p *Plan) { p.Region = "a b" },
		"--service is missing":   func(p *Plan) { p.Services = nil },
		"is not in the zone":     func(p *Plan) { p.Services[0].Name = "app.example.org" },
		"twice":                  func(p *Plan) { p.Services = append(p.Services, p.Services[0]) },
		"--overwatch is missing": func(p *Plan) { p.Overwatch = nil },
		`--overwatch is "a:b"`:   func(p *Plan) { p.Overwatch = []string{"a:b"} },
		`--overwatch is "a b:1"`: func(p *Plan) { p.Overwatch = []string{"a b:1"} },
		"--check":                func(p *Plan) { p.Check = "http" },
		`--check is "tcp:/x"`:    func(p *Plan) { p.Check = "tcp:/x" },
		"--dns-listen":           func(p *Plan) { p.DNS = "53" },
		"--api-listen":           func(p *Plan) { p.API = "localhost:8080" },
		"--gossip-listen":        func(p *Plan) { p.Gossip = ":0" },
		"one agent speaks for at most": func(p *Plan) {
			for port := range uint16(maxBackends + 1) {
				p.Services[0].Backends = append(p.Services[0].Backends, netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port+1))
			}
		},
	} {
		p := plan()
		spoil(&p)
		dir := filepath.Join(t.TempDir(), "new")
		if _, _, err := Write(dir, p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: something is written", words)
		}
	}
}

func FuzzParseService(f *testing.F) {
	f.Add("app=192.0.2.10:8080,[2001:db8::1]:443")
	f.Add("a=fe80::1%eth0:1")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseService(text)
		if err != nil {
			return
		}
		p := plan()
		p.Services = []Service{s}
		p, err = p.complete()
		if err != nil {
			return
		}
		fs := facts{Plan: p, GossipKey: "k", Tokens: map[string]string{p.Services[0].Name: "t"}, Kind: "tcp"}
		for _, text := range []string{overwatchText, agentText} {
			out, err := fs.fill("x", text)
			if err != nil {
				t.Fatal(err)
			}
			var value map[string]any
			if err := yaml.Unmarshal(out, &value); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	})
}
