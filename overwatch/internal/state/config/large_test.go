package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

// largeHead is the hand-written part of a large configuration.
const largeHead = smallest + `
dns: {listen_address: "127.0.0.1:5300", default_ttl: 60, zones: [gslb.test]}
logging: {level: warn, format: json}
`

// largeText returns a configuration of many domains with four servers each in YAML.
func largeText(domains int) string {
	var b strings.Builder
	b.WriteString(largeHead + "regions:\n")
	for r := range 4 {
		fmt.Fprintf(&b, "  - name: r%d\n    servers:\n", r+1)
		for i := range domains {
			fmt.Fprintf(&b, "      - {address: %s, port: 80, weight: %d, service: d%05d.gslb.test}\n", largeAddress(i, r),
				(r+1)*10, i)
		}
	}
	b.WriteString("domains:\n")
	for i := range domains {
		fmt.Fprintf(&b, "  - {name: d%05d.gslb.test, routing_algorithm: weighted, regions: [r1, r2, r3, r4], ttl: 60}\n", i)
	}
	return b.String()
}

// largeJSON returns the lists of largeText in JSON, in the form of a program.
func largeJSON(domains int) string {
	type region struct {
		Name    string           `json:"name"`
		Servers []map[string]any `json:"servers"`
	}
	var lists struct {
		Regions []region         `json:"regions"`
		Domains []map[string]any `json:"domains"`
	}
	for r := range 4 {
		added := region{Name: fmt.Sprintf("r%d", r+1)}
		for i := range domains {
			added.Servers = append(added.Servers, map[string]any{
				"address": largeAddress(i, r), "port": 80, "weight": (r + 1) * 10, "service": fmt.Sprintf("d%05d.gslb.test", i),
			})
		}
		lists.Regions = append(lists.Regions, added)
	}
	for i := range domains {
		lists.Domains = append(lists.Domains, map[string]any{
			"name": fmt.Sprintf("d%05d.gslb.test", i), "routing_algorithm": "weighted", "regions": []string{"r1", "r2", "r3",
				"r4"}, "ttl": 60,
		})
	}
	text, _ := json.Marshal(lists)
	return string(text)
}

func largeAddress(domain, region int) string {
	n := domain*4 + region
	return fmt.Sprintf("127.%d.%d.%d", 100+n/62500, n/250%250, 1+n%250)
}

// Generated lists have the same result in YAML and in an included JSON file.
func TestLoad_GeneratedFilesAreReadWhole(t *testing.T) {
	const domains = 2000
	inYAML, problems := loadText(t, largeText(domains))
	if problems != nil {
		t.Fatal(problems)
	}
	inJSON, problems := loadText(t, largeHead+"includes: [lists.json]\n", "lists.json", largeJSON(domains))
	if problems != nil {
		t.Fatal(problems)
	}
	if !reflect.DeepEqual(inYAML, inJSON) {
		t.Error("the configuration differs")
	}
	if servers := slices.Collect(inJSON.StaticServers()); len(servers) != 4*domains || len(inJSON.Domains) != domains ||
		len(inJSON.Warnings()) != 0 {
		t.Errorf("%d servers, %d domains, warnings %q", len(servers), len(inJSON.Domains), inJSON.Warnings())
	}
}

// The example of the page is a valid configuration: a hand-written file, and lists in JSON.
func TestLongLists_TheirExampleIsAConfiguration(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)## Long lists.*?```yaml\n(.*?)```.*?```json\n(.*?)```").FindStringSubmatch(
		string(page))
	if example == nil {
		t.Fatal("the page has no example of long lists")
	}
	main := strings.Replace(example[1], "generated/*.json", "lists.json", 1)
	c, problems := loadText(t, main, "lists.json", example[2], "gossip.key", testKey)
	if problems != nil || len(c.Warnings()) != 0 || len(slices.Collect(c.StaticServers())) != 2 {
		t.Errorf("problems %q, %+v", problems, c)
	}
}

// A large YAML file is read, and a warning recommends the faster format.
func TestLoad_LargeYAMLIsReadWithAHint(t *testing.T) {
	c, problems := loadText(t, largeHead+"includes: [pad.yaml, pad.json]\n",
		"pad.yaml", strings.Repeat("# as large as many lists\n", 200_000), "pad.json", strings.Repeat("     \n",
			1_000_000)+"{}")
	if problems != nil || len(c.Warnings()) != 1 || !strings.Contains(c.Warnings()[0],
		"pad.yaml: such a large YAML file") ||
		!strings.Contains(c.Warnings()[0], "included file with a name that ends in .json") {
		t.Errorf("problems %q, warnings %q", problems, c.Warnings())
	}
}

// The start of a node with 100 000 names has a limit of 8 s for JSON, most of which other parts need, and 30 s for
// YAML.
func BenchmarkLoad_100000Domains(b *testing.B) {
	for name, files := range map[string][2]string{
		"JSON": {largeHead + "includes: [lists.json]\n", largeJSON(100_000)}, "YAML": {largeText(100_000), "{}"},
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			for i, file := range []string{"main.yaml", "lists.json"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(files[i]), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := config.Load(filepath.Join(dir, "main.yaml")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The function Load panics for no file.
func FuzzLoad(f *testing.F) {
	f.Add(smallest)
	f.Add(largeText(2))
	if text, err := os.ReadFile("testdata/overwatch.yaml"); err == nil {
		f.Add(string(text))
	}
	f.Add("mode: overwatch\noverwatch: {agent_tokens: {a: }, geolocation: {custom_mappings: [{}]}}\nregions: " +
		"[{servers: [{health_check: {}}]}, a]\ndomains: [{regions: [x]}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "includes") { // other files of this machine are not part of the text
			return
		}
		if c, problems := loadText(t, text); problems == nil {
			_ = slices.Collect(c.StaticServers())
			c.GossipKeys()
		}
	})
}
