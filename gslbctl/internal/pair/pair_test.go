package pair // inside: it uses agentText, facts and fill

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func at(name string, addresses ...string) Node {
	n := Node{Name: name}
	for _, text := range addresses {
		n.Addresses = append(n.Addresses, netip.MustParseAddr(text))
	}
	return n
}

func plan() Plan {
	return Plan{Zone: "gslb.example.com", Region: DefaultRegion, Nodes: []Node{at("ns1", "203.0.113.10")},
		Check:    DefaultCheck,
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
	p.Services = append(p.Services, Service{Name: "SHOP.gslb.example.com.",
		Backends: []netip.AddrPort{netip.MustParseAddrPort("[2001:db8::1]:443")}},
		Service{Name: "app", Backends: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.11:8080")}})
	files, done, err := Write(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Services) != 2 || done.Services[1].Name != "shop.gslb.example.com" || len(done.Services[0].Backends) != 2 {
		t.Errorf("services %+v", done.Services)
	}
	read := func(path string) map[string]any { return readYAML(t, path) }
	overwatch, agent := read(files.Overwatch[0]), read(files.Agent)
	if overwatch["data_dir"] != nil || of(overwatch, "overwatch", "dnssec") != nil ||
		of(overwatch, "api", "address") != "127.0.0.1:8080" || of(overwatch, "dns", "listen_address") != ":53" {
		t.Errorf("a single node: %v", overwatch)
	}
	if key := of(overwatch, "overwatch", "gossip", "encryption_key"); key != of(agent, "agent", "gossip",
		"encryption_key") || len(key.(string)) != 44 {
		t.Error("the gossip keys differ or are not 32 bytes")
	}
	tokens, given := of(overwatch, "overwatch", "agent_tokens").(map[string]any),
		of(agent, "agent", "identity", "service_tokens").(map[string]any)
	if len(tokens) != 2 || tokens["app.gslb.example.com"] != given["app.gslb.example.com"] ||
		tokens["app.gslb.example.com"] == tokens["shop.gslb.example.com"] {
		t.Error("the tokens differ between the files or are the same for two services")
	}
	backends := of(agent, "agent", "backends").([]any)
	if len(backends) != 3 || of(backends[0], "health_check", "path") != `/he"alth:{{.}}` ||
		of(backends[2], "address") != "2001:db8::1" {
		t.Errorf("backends %v", backends)
	}

	if agent["data_dir"] != "/var/lib/gslb-agent" {
		t.Errorf("the agent's data_dir is %v, where its packaged service may not write", agent["data_dir"])
	}
	token, _ := os.ReadFile(files.Token)
	if admin := of(overwatch, "api", "tokens", "admin", "admin"); string(token) != admin.(string)+"\n" || len(token) < 33 {
		t.Errorf("the file of the token differs from the configuration, or it is short: %d bytes", len(token))
	}
	if of(overwatch, "metrics", "enabled") != true || of(overwatch, "metrics", "address") != "127.0.0.1:9090" {
		t.Errorf("metrics %v", overwatch["metrics"])
	}
	if at := done.AdminAt(); len(at) != 1 || at[0].API != "127.0.0.1:8080" || at[0].DNS != "203.0.113.10:53" {
		t.Errorf("an administrator reaches %v", at)
	}

	before, _ := os.ReadFile(files.Overwatch[0])
	if _, _, err := Write(dir, p); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second time: %v", err)
	}
	if after, _ := os.ReadFile(files.Overwatch[0]); string(after) != string(before) {
		t.Error("a file that was there is changed")
	}
	if err := os.Remove(files.Overwatch[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Write(dir, p); err == nil {
		t.Error("agent.yaml is there and nothing is said")
	}
	if _, err := os.Stat(files.Overwatch[0]); err == nil {
		t.Error("half a pair is left")
	}
}

// of returns the value at a path of keys in a parsed YAML document.
func of(value any, keys ...string) any {
	for _, key := range keys {
		value = value.(map[string]any)[key]
	}
	return value
}

func readYAML(t *testing.T, path string) (value map[string]any) {
	t.Helper()
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

func TestWrite_SeveralNodesKnowOneAnotherAndAgentsAll(t *testing.T) {
	p := plan()
	p.Nodes = []Node{at("ns1", "203.0.113.10", "2001:db8::10"), at("ns2", "2001:db8::20"), at("ns3", "192.0.2.30")}
	p.DNS, p.DataDir = []string{":53", ":53", "192.0.2.30:5353"}, "/srv"
	files, done, err := Write(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	var secret any
	for i, path := range files.Overwatch {
		n := readYAML(t, path)
		sync := of(n, "overwatch", "dnssec", "key_sync")
		if i > 0 && of(sync, "secret") != secret || len(of(sync, "secret").(string)) < 32 {
			t.Errorf("%s: secret %v", path, of(sync, "secret"))
		}
		secret = of(sync, "secret")
		for what, got := range map[string]any{
			"node_id": of(n, "overwatch", "identity", "node_id"), "data_dir": n["data_dir"],
			"listen": of(n, "dns", "listen_address"), "gossip": of(n, "overwatch", "gossip", "bind_address"),
			"peers": of(sync, "peers"), "api": of(n, "api", "address"), "networks": of(n, "api", "allowed_networks"),
			"zone": of(n, "dns", "zones"),
		} {
			want := map[string][]any{
				"node_id": {"ns1", "ns2", "ns3"}, "data_dir": {"/srv/overwatch-ns1", "/srv/overwatch-ns2", "/srv/overwatch-ns3"},
				"listen": {":53", ":53", "192.0.2.30:5353"},
				"gossip": {"0.0.0.0:7946", "[::]:7946", "0.0.0.0:7946"}, "api": {":8080", ":8080", ":8080"},
				"peers": {"[http://[2001:db8::20]:8080 http://192.0.2.30:8080]",
					"[http://203.0.113.10:8080 http://192.0.2.30:8080]", "[http://203.0.113.10:8080 http://[2001:db8::20]:8080]"},
				"networks": slices.Repeat([]any{
					"[127.0.0.1/32 ::1/128 203.0.113.10/32 2001:db8::10/128 2001:db8::20/128 192.0.2.30/32]"}, 3),
				"zone": slices.Repeat([]any{
					"[map[name:gslb.example.com nameservers:[ns1.gslb.example.com ns2.gslb.example.com ns3.gslb.example.com] " +
						"records:[" +
						"ns1.gslb.example.com. 3600 IN A 203.0.113.10 ns1.gslb.example.com. 3600 IN AAAA 2001:db8::10 " +
						"ns2.gslb.example.com. 3600 IN AAAA 2001:db8::20 ns3.gslb.example.com. 3600 IN A 192.0.2.30]]]"}, 3),
			}[what][i]
			if fmt.Sprint(got) != want {
				t.Errorf("%s: %s is %v, want %v", path, what, got, want)
			}
		}
	}
	if nodes := fmt.Sprint(of(readYAML(t, files.Agent), "agent", "gossip",
		"overwatch_nodes")); nodes != "[203.0.113.10:7946 [2001:db8::20]:7946 192.0.2.30:7946]" {
		t.Errorf("the agent knows %s", nodes)
	}
	if d := done.Delegation(); len(d) != 7 || d[1] != "gslb.example.com. 3600 IN NS ns2.gslb.example.com." {
		t.Errorf("delegation %q", d)
	}
}

func TestWrite_LocalNodesDoNotMeet(t *testing.T) {
	p := plan()
	p.Local, p.Nodes = true, []Node{at("a"), at("b")}
	_, done, err := Write(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"127.0.0.1:5300 127.0.0.1:7946 127.0.0.1:8080",
		"127.0.0.1:5301 127.0.0.1:7947 127.0.0.1:8081"} {
		if n := done.Nodes[i]; n.DNS+" "+n.Gossip+" "+n.API != want {
			t.Errorf("%+v, want %s", n, want)
		}
	}
	p.Nodes = nil
	if _, done, err = Write(t.TempDir(), p); err != nil || len(done.Nodes) != 1 {
		t.Errorf("%v, %+v", err, done.Nodes)
	}
}

func TestWrite_RefusesWhatNoNodeCouldRun(t *testing.T) {
	for words, spoil := range map[string]func(*Plan){
		"--zone":               func(p *Plan) { p.Zone = "" },
		"cannot be a part":     func(p *Plan) { p.Zone = "a..b" },
		"--region":             func(p *Plan) { p.Region = "a b" },
		"--service is missing": func(p *Plan) { p.Services = nil },
		"is not in the zone":   func(p *Plan) { p.Services[0].Name = "app.example.org" },
		"twice":                func(p *Plan) { p.Services = append(p.Services, p.Services[0]) },
		"0 nodes are given":    func(p *Plan) { p.Nodes = nil },
		"33 nodes are given":   func(p *Plan) { p.Nodes = make([]Node, maxNodes+1) },
		"ns1 has no address":   func(p *Plan) { p.Nodes[0].Addresses = nil },
		"ns1 is there twice":   func(p *Plan) { p.Nodes = append(p.Nodes, p.Nodes[0]) },
		"have the same name":   func(p *Plan) { p.Nodes[0].Name = "app" },
		"both at 203.0.113.10": func(p *Plan) { p.Nodes = append(p.Nodes, at("ns2", "203.0.113.10")) },
		"given 3 times": func(p *Plan) {
			p.Nodes, p.DNS = append(p.Nodes, at("ns2", "192.0.2.2")),
				[]string{":53", ":53", ":53"}
		},
		"must reach it": func(p *Plan) {
			p.Nodes, p.API = append(p.Nodes, at("ns2", "192.0.2.2")),
				[]string{"127.0.0.1:8080"}
		},
		"--check":              func(p *Plan) { p.Check = "http" },
		`--check is "tcp:/x"`:  func(p *Plan) { p.Check = "tcp:/x" },
		`--dns-listen is "53"`: func(p *Plan) { p.DNS = []string{"53"} },
		"--api-listen":         func(p *Plan) { p.API = []string{"localhost:8080"} },
		"--gossip-listen":      func(p *Plan) { p.Gossip = []string{":0"} },
		"it listens on port 8080 itself": func(p *Plan) {
			p.Services[0].Backends = []netip.AddrPort{netip.MustParseAddrPort("203.0.113.10:8080")}
		},
		"loopback addresses are different": func(p *Plan) {
			p.Services[0].Backends = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:80")}
		},
		"cannot reach link-local": func(p *Plan) {
			p.Services[0].Backends = []netip.AddrPort{netip.MustParseAddrPort("169.254.1.1:80")}
		},
		"one agent speaks for at most": func(p *Plan) {
			for port := range uint16(maxBackends + 1) {
				p.Services[0].Backends = append(p.Services[0].Backends,
					netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port+1))
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

func TestParseNode(t *testing.T) {
	n, err := ParseNode("NS1=203.0.113.10,[2001:db8::10]")
	if err != nil || n.Name != "ns1" || fmt.Sprint(n.Addresses) != "[203.0.113.10 2001:db8::10]" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, text := range []string{"", "=", "=192.0.2.1", "ns1=", "ns1=ow1.example.net", "ns1=192.0.2.1:53", "ns1=0.0.0.0",
		"ns1=::", "ns1=224.0.0.1", "ns1=fe80::1%eth0", "ns1=192.0.2.1,192.0.2.1", "ns1=192.0.2.1,", "a.b=192.0.2.1"} {
		if n, err := ParseNode(text); err == nil || !strings.Contains(err.Error(), "--node") {
			t.Errorf("%q: %+v, %v", text, n, err)
		}
	}
}

// All accepted plans result in valid YAML files.
func fuzzed(t *testing.T, p Plan) {
	p, err := p.Complete()
	if err != nil {
		return
	}
	f := p.facts()
	for text, with := range map[string]any{overwatchText: f.node(0, "overwatch"), agentText: f} {
		out, err := fill("x", text, with)
		if err != nil {
			t.Fatal(err)
		}
		var value map[string]any
		if err := yaml.Unmarshal(out, &value); err != nil {
			t.Fatalf("%v\n%s", err, out)
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
		fuzzed(t, p)
	})
}

func FuzzParseNode(f *testing.F) {
	f.Add("ns1=192.0.2.10,[2001:db8::1]")
	f.Add("ns1=fe80::1%eth0")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNode(text)
		if err != nil {
			return
		}
		p := plan()
		p.Nodes = []Node{n, at("other", "192.0.2.99")}
		fuzzed(t, p)
	})
}
