package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largeText is a configuration of many domains with four servers each, as a program would write it.
func largeText(domains int) string {
	var b strings.Builder
	b.WriteString(`mode: overwatch
overwatch:
  identity: {node_id: bench, region: r1}
  gossip: {bind_address: "127.0.0.1:5340", encryption_key: "` + testKey + `"}
  validation: {enabled: false}
  dnssec: {enabled: false, security_acknowledgment: "bench of unsigned answers"}
  geolocation: {default_region: r1, ecs_enabled: true, custom_mappings: [{cidr: 127.0.0.0/10, region: r1}, {cidr: 127.64.0.0/10, region: r2}, {cidr: 10.0.0.0/8, region: r3}, {cidr: 192.0.2.0/24, region: r4}]}
data_dir: "/tmp/data"
dns: {listen_address: "127.0.0.1:5300", default_ttl: 60, zones: [gslb.test]}
metrics: {enabled: true, address: "127.0.0.1:5320"}
logging: {level: warn, format: json}
regions:
`)
	for r := range 4 {
		fmt.Fprintf(&b, "  - name: r%d\n    servers:\n", r+1)
		for i := range domains {
			n := i*4 + r
			fmt.Fprintf(&b, "      - {address: 127.%d.%d.%d, port: 80, weight: %d, service: d%05d.gslb.test}\n", 100+n/62500, n/250%250, 1+n%250, (r+1)*10, i)
		}
	}
	b.WriteString("domains:\n")
	for i := range domains {
		fmt.Fprintf(&b, "  - {name: d%05d.gslb.test, routing_algorithm: weighted, regions: [r1, r2, r3, r4], ttl: 60}\n", i)
	}
	return b.String()
}

func TestLoad_GeneratedFileIsReadWhole(t *testing.T) {
	const domains = 2000
	c, problems := loadText(t, largeText(domains))
	if problems != nil {
		t.Fatal(problems)
	}
	if servers := slices.Collect(c.StaticServers()); len(servers) != 4*domains || len(c.Domains) != domains || len(c.Warnings()) != 0 {
		t.Errorf("%d servers, %d domains, warnings %q", len(servers), len(c.Domains), c.Warnings())
	}
}

// The start of a node with 100 000 names has 5 s, most of which belong to other things.
func BenchmarkLoad_100000Domains(b *testing.B) {
	path := filepath.Join(b.TempDir(), "main.yaml")
	if err := os.WriteFile(path, []byte(largeText(100_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(path); err != nil {
			b.Fatal(err)
		}
	}
}

// No file makes loading panic.
func FuzzLoad(f *testing.F) {
	f.Add(smallest)
	f.Add(largeText(2))
	if text, err := os.ReadFile("testdata/overwatch.yaml"); err == nil {
		f.Add(string(text))
	}
	f.Add("mode: overwatch\noverwatch: {agent_tokens: {a: }, geolocation: {custom_mappings: [{}]}}\nregions: [{servers: [{health_check: {}}]}, a]\ndomains: [{regions: [x]}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "includes") { // what else is on this machine is no part of the text
			return
		}
		if c, problems := loadText(t, text); problems == nil {
			_ = slices.Collect(c.StaticServers())
			c.GossipKeys()
		}
	})
}
