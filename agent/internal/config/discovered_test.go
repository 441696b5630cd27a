package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/agent/internal/config"
)

const discovering = `mode: agent
agent:
  identity: {region: eu, service_tokens: {app.example.com: a-token-of-thirty-two-characters-ok}}
  gossip: {encryption_key: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", overwatch_nodes: ["n.example.com:7946"]}
  backends_from: [{file: "*.yaml", service: APP.example.com, health_check: {type: tcp}}]
`

// loaded returns a configuration that names files.
func loaded(t testing.TB) *config.Config {
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(discovering), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadBackends(t *testing.T) {
	c, dir := loaded(t), t.TempDir()
	for _, row := range []struct{ name, text, want string }{
		{"own.yaml", "- {address: 192.0.2.1, port: 80, weight: 7}", "app.example.com 192.0.2.1 80 7 tcp"},
		{"check.yaml", "- {service: App.example.com, address: '2001:db8::1', port: 80, health_check: {type: http, path: /}}",
			"app.example.com 2001:db8::1 80 100 http"},
		{"none.yaml", "[]", ""},
		{"sd.json", `[{"targets":["192.0.2.1:80","[2001:db8::1]:81"],"labels":{"weight":"3","job":"x","region":"eu"}}]`,
			"app.example.com 192.0.2.1 80 3 tcp, app.example.com 2001:db8::1 81 3 tcp"},
		{"region.yaml", "- {targets: ['192.0.2.1:80'], labels: {region: us}}", ""},
		{"unknown.yaml", "- address: 192.0.2.1\n  port: 80\n  wieght: 7",
			"unknown.yaml:3:3: backends[0].wieght: unknown key"},
		{"empty.yaml", "", "empty.yaml: expected a list"},
		{"map.yaml", "backends: []", "map.yaml:1:1: expected a list"},
		{"cut.yaml", "- {address: 192.0.2.1, po", "not valid YAML: a comma"},
		{"cut.json", `[{"address": "192.0.2.1", "port": 80}`, "cut.json:1:38: not valid JSON"},
		{"port.yaml", "- address: 192.0.2.1", "backends[0].port: is missing"},
		{"other.yaml", "- {address: 192.0.2.1, port: 80, service: other.example.com}", `"other.example.com": is not among`},
		{"name.yaml", "- targets:\n  - web-1:80", `name.yaml:2:5: backends[0].targets[0]: "web-1:80": give an IP address`},
		{"weight.yaml", "- {targets: ['192.0.2.1:80'], labels: {weight: much}}", `labels["weight"]: "much": give a whole`},
		{"zero.yaml", "- {targets: ['192.0.2.1:80'], labels: {weight: '0'}}", `"0": give a number from 1 to 1000`},
		{"both.yaml", "- {targets: ['192.0.2.1:80'], address: 192.0.2.1}", "is a backend and a group of targets"},
		{"loopback.yaml", "- {targets: ['224.0.0.1:80']}", `"224.0.0.1"`},
		{"many.yaml", "- targets: [" + strings.Repeat("'192.0.2.1:80', ", 65) + "]",
			"many.yaml:1:3: backends[0]: the file has more than 64 backends"},
		{"large.yaml", "# " + strings.Repeat("x", 1<<20), "has more than 1048576 octets"},
	} {
		path := filepath.Join(dir, row.name)
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := c.ReadBackends(path, &c.Agent.BackendsFrom[0])
		var got []string
		for _, b := range list {
			got = append(got, fmt.Sprint(b.Service, " ", b.Address, " ", b.Port, " ", b.Weight, " ",
				b.HealthCheck.Spec().Type))
		}
		if err != nil {
			if !strings.Contains(err.Error(), row.want) || row.want == "" {
				t.Errorf("%s: %v, want %q", row.name, err, row.want)
			}
		} else if strings.Join(got, ", ") != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// Reading ends for any content of a file, and each resulting backend can be checked.
func FuzzReadBackends(f *testing.F) {
	f.Add(`[{"targets":["192.0.2.1:80"],"labels":{"weight":"3"}}]`, true)
	f.Add("- {address: 192.0.2.1, port: 80}\n- targets: ['[::1]:80']", false)
	c, dir := loaded(f), f.TempDir()
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		path := filepath.Join(dir, map[bool]string{false: "f.yaml", true: "f.json"}[isJSON])
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := c.ReadBackends(path, &c.Agent.BackendsFrom[0])
		for _, b := range list {
			if err == nil && (b.Service == "" || !b.Address.IsValid() || b.Port == 0 || b.HealthCheck == nil ||
				b.Weight < 1 || b.Weight > 1000) {
				t.Errorf("%+v", b)
			}
		}
	})
}
