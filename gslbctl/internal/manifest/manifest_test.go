package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/manifest"
	"gslb.internal/shared/api"
)

func TestRead_JoinsFilesAndKnowsTheirLines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "domains:\n  - name: a.example.com\n    ttl: 30\n---\nregions:\n  - {name: eu}\n",
		"b.json": `{"domains": [{"name": "b.example.com", "owner": "b"}],` + "\n" +
			`"servers": [{"service": "b.example.com",` +
			` "address": "192.0.2.1", "port": 80, "health_check": {"type": "http"}}]}`,
		"c.txt": "not this",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := manifest.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := m.Document
	if len(d.Domains) != 2 || fmt.Sprintf("%s",
		d.Domains[0]["ttl"]) != "30" || d.Domains[1].Text("owner") != "b" || d.Regions[0].Text("name") != "eu" ||
		fmt.Sprintf("%s", d.Servers[0]["health_check"]) != `{"type":"http"}` || d.Servers[0].Number("port") != 80 {
		t.Errorf("%+v", d)
	}
	for object, want := range map[string]string{"domains[0]": "a.yaml:2:5: domains[0]",
		"regions[0]": "a.yaml:6:5: regions[0]",
		"domains[1]": "b.json:1:14: domains[1]", "servers[0]": "b.json:2:13: servers[0]"} {
		if got := m.Place(object, "it is there"); got != filepath.Join(dir, want) {
			t.Errorf("%s is at %s, want %s", object, got, want)
		}
	}
	if got := m.Place("domain x", ""); got != "domain x" {
		t.Errorf("an unknown object is at %s", got)
	}
}

// A text keeps its spelling, regardless of YAML's interpretation.
func TestRead_KeepsTexts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": `regions: [{name: a, description: 2026-01-02}, {name: b, description: '\ud83d\ude00'}]`,
		"b.json": `{"regions": [{"name": "c", "description": "\ud83d\ude00 \/"},` +
			` {"name": "d", "description": "\\ud83d\\ude00"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := manifest.Read(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"2026-01-02", `\ud83d\ude00`, "\U0001F600 /", `\ud83d\ude00`} {
		if got := m.Document.Regions[i].Text("description"); got != want {
			t.Errorf("region %d: %q, want %q", i, got, want)
		}
	}
}

func TestRead_NamesLineAndRemedy(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "standard input is empty: it must have one of regions",
		"domains: [":                            "standard input:1: not valid YAML: ",
		"- a":                                   "standard input:1:1: it must have one of the keys regions, domains",
		"domain: []":                            `standard input:1:1: unknown key "domain": known are regions, domains`,
		"domains: {a: b}":                       "standard input:1:10: domains must be a list",
		"domains:\n  - hello":                   "standard input:2:5: domains[0] must be an object",
		"domains:\n  - {nam: x}":                `standard input:2:6: unknown key "nam": known are name, routing_algorithm`,
		"domains:\n- name: x\n  ttl: y":         `standard input:3:8: domains[0]: ttl is "y": give a whole number`,
		"domains:\n- {name: 5}":                 "standard input:2:10: domains[0]: name is 5: give a string",
		"servers:\n- health_check:\n    typ: x": `standard input:3:5: unknown key "typ": known are enabled, type`,
		"servers:\n- health_check: {path: 1}":   "standard input:2:24: servers[0]: health_check.path is 1: give a string",
		"domains:\n- {name: a, name: b}":        "already defined",

		"servers:\n- health_check: {send: !!int s3cret}":       "servers[0]: the tag (!!) of a value does not fit",
		"servers:\n- health_check: {headers: {A: {{s3cret}}}}": "servers[0]: a key is a list or a map: put a value",
		strings.Repeat("#", api.MaxDocument+1):                 "larger than 16 MiB",
	} {
		if _, err := manifest.Read("-", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error has the secret: %v", text, err)
		}
	}
	if _, err := manifest.Read(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "has no .yaml") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := manifest.Read(filepath.Join(t.TempDir(), "no.yaml"), nil); err == nil {
		t.Error("a file that is not there")
	}
}

// The error of a node names the position of the value, for objects by index and by kind and name.
func TestPlace_OfAValue(t *testing.T) {
	m, err := manifest.Read("-", strings.NewReader("domains:\n- name: Shop.example.com.\n  ttl: 5\n"+
		"  regions: [mars]\nservers:\n"+
		"- service: shop.example.com\n  address: 2001:db8:0::1\n  port: 443\n  health_check:\n    type: http\n"+
		"- {service: a, target: b.example.net, port: 80}\nmappings:\n- {cidr: 10.0.0.1/8, region: eu}\n"+
		"regions:\n- {name: US East, code: us-east}\nagents:\n- {name: eu-1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ object, problem, want string }{
		{"domains[0]", "ttl is 0: give 1", "3:8: domains[0]"},
		{"domains[0]", "region is \"mars\"", "4:12: domains[0]"},
		{"domain shop.example.com", "ttl is 0", "3:8: domain shop.example.com"},
		{"servers[0]", "health_check.type: \"x\": known are", "10:11: servers[0]"},
		{"server shop.example.com:2001:db8::1:443", "the file has it",
			"6:3: server shop.example.com:2001:db8::1:443"},
		{"server a:b.example.net:80", "region is missing", "11:3: server a:b.example.net:80"},
		{"mapping 10.0.0.0/8", "region is \"eu\"", "13:30: mapping 10.0.0.0/8"},
		{"region us-east", "", "15:3: region us-east"},
		{"region us east", "", "15:3: region us east"},
		{"agent eu-1", "", "17:3: agent eu-1"},
	} {
		if got := m.Place(c.object, c.problem); got != "standard input:"+c.want {
			t.Errorf("%s: %s, want %s", c.object, got, c.want)
		}
	}
}

// FuzzRead searches for texts that crash the reader.
func FuzzRead(f *testing.F) {
	f.Add("domains:\n  - {name: a, ttl: 5, regions: [eu]}\nservers: [{service: a, address: 192.0.2.1, port: 80}]\n")
	f.Add("mappings: [{cidr: 10.0.0.0/8, region: eu}]\n---\nregions: [{name: eu, countries: [DE]}]")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := manifest.Read("-", strings.NewReader(text))
		if err == nil && len(m.Document.Domains) > 0 && !strings.Contains(m.Place("domains[0]", ""), "standard input:") {
			t.Errorf("no place for a domain of %q", text)
		}
	})
}
