package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// everyKind is a document with each kind of object and each section of settings, with fields that differ from their
// defaults.
const everyKind = `regions:
  - {name: Asia, code: as, continent: AS, countries: [JP], priority: 3, latitude: 35.6, longitude: 139.7, owner: net}
domains:
  - {name: shop.test.gslb.test, routing_policy: weighted, regions: [eu, as], ttl: 30, tags: [x], min_healthy: "1",
     description: the shop, owner: shop, https: {alpn: [h2, h3], port: 8443}, srv: [_sip._tcp]}
  - {name: off.test.gslb.test, enabled: false}
servers:
  - {service: shop.test.gslb.test, address: 192.0.2.1, port: 443, region: as, weight: 7, agent: host-1, owner: shop,
     health_check: {type: http, path: /x, interval: 30s, timeout: 2s, expected_status: "200"}}
  - {service: shop.test.gslb.test, address: "2001:db8::1", port: 443, region: eu, owner: shop}
mappings:
  - {cidr: 203.0.113.0/24, region: as, comment: an office, owner: net}
  - {cidr: "2001:db8:1::/48", region: eu}
agents:
  - {name: host-1, address: 192.0.2.9, port: 7946, region: as, version: "1.2", owner: net}
settings:
  - {section: dns, values: {default_ttl: 77, rate_limit_enabled: false}}
  - {section: health-check, values: {unhealthy_threshold: 7}}
`

// export prints all objects of the node. Applying the output changes nothing on this node, and creates the same objects
// on a new node.
func TestDocument_ExportAppliesEmptyWithEveryKind(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "all.yaml")
	write := func(text string) {
		t.Helper()
		testbed.Write(t, file, 0o600, text)
	}
	write(everyKind)
	control(t, n, "apply", "-f", file).Want(t, testbed.ExitOK, "Done: 8 created, 2 changed")
	exported := control(t, n, "export").Output
	write(exported)
	for _, again := range [][]string{nil, {"--owner", "shop", "--prune"}} {
		if again != nil {
			write(control(t, n, "export", "--owner", "shop").Output)
		}
		control(t, n, append([]string{"plan", "-f", file}, again...)...).Want(t, testbed.ExitOK, "Nothing to do")
		control(t, n, append([]string{"apply", "-f", file}, again...)...).Want(t, testbed.ExitOK)
	}
	if got := control(t, n, "export").Output; got != exported {
		t.Errorf("applied, it is\n%s\nand was\n%s", got, exported)
	}
	other := documentNode(t)
	write(exported)
	control(t, other, "apply", "-f", file).Want(t, testbed.ExitOK)
	if got := control(t, other, "export").Output; got != exported {
		t.Errorf("on another node it is\n%s\nand was\n%s", got, exported)
	}
	write("settings: [{section: dns, values: {}}, {section: health-check, values: {}}]\n")
	control(t, n, "apply", "-f", file).Want(t, testbed.ExitOK)
	control(t, n, "apply", "-f", file, "--owner", "net", "--prune").Want(t, testbed.ExitBadInput,
		"names it, and stays", "nothing was changed")
	document, err := n.Client.Document(t.Context())
	if err != nil || len(document.Settings) > 0 || len(document.Agents) != 1 {
		t.Errorf("%+v, %v", document, err)
	}
}

func control(t *testing.T, n *harness.Node, args ...string) testbed.Result {
	t.Helper()
	return testbed.Command(t, append([]string{testbed.Binaries(t).Control, "--api", n.API.String()}, args...)...)
}

// This test executes the section "Add a service" of README.md.
func TestDocument_TheSecondServiceOfTheReadme(t *testing.T) {
	t.Parallel()
	text := testbed.Read(t, "../../README.md")
	_, chapter, _ := strings.Cut(text, "\n## Add a service\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	chapter = strings.ReplaceAll(chapter, "gslb.example.com", "test.gslb.test")
	var document strings.Builder
	var commands []string
	for line := range strings.Lines(chapter) {
		switch inner, indented := strings.CutPrefix(line, "    "); {
		case indented && strings.HasPrefix(inner, "bin/gslbctl "):
			commands = append(commands, inner)
		case indented:
			document.WriteString(inner)
		}
	}
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(document.String()), 0o600); err != nil || len(commands) != 2 {
		t.Fatal(commands, err)
	}
	n := documentNode(t)
	for i, code := range []int{3, testbed.ExitOK, testbed.ExitOK, testbed.ExitOK} { // twice: the second has nothing to do
		args := strings.Fields(strings.ReplaceAll(commands[i%2], "shop.yaml", file))[1:]
		control(t, n, args...).Want(t, code)
	}
	if r := testbed.Exchange(t, "udp", n, documentName, dns.TypeA); r.Rcode != dns.RcodeSuccess {
		t.Errorf("answered with %s", dns.RcodeToString[r.Rcode])
	}
}

// An error in a file is reported with its line and the remedy. The file changes nothing.
func TestDocument_WrongFilesChangeNothing(t *testing.T) {
	t.Parallel()
	n := documentNode(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.yaml")
	run := func(text string, args ...string) testbed.Result {
		t.Helper()
		testbed.Write(t, file, 0o600, text)
		return control(t, n, append([]string{"apply", "-f", file}, args...)...)
	}
	run(everyKind).Want(t, testbed.ExitOK)
	before := control(t, n, "export").Output
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	for _, c := range []struct {
		name, text string
		args       []string
		code       int
		words      []string
	}{
		{"an unknown key", "domains:\n  - name: a.test.gslb.test\n    tll: 5\n", nil, 2,
			[]string{"shop.yaml:3:5: ", `unknown key "tll"`, "known are name, routing_algorithm"}},
		{"a region that is not there", "domains:\n  - name: a.test.gslb.test\n    regions: [mars]\n", nil, 2,
			[]string{"shop.yaml:3:14: domains[0]", `region is "mars"`, "must be one of"}},
		{"two owners of one object", "domains:\n  - {name: shop.test.gslb.test, ttl: 31}\n", []string{"--owner", "web"}, 1,
			[]string{"shop.yaml:2:", `the owner "shop"`, "apply it with that owner"}},
		{"an owner beside another", "domains:\n  - {name: a.test.gslb.test, owner: web}\n", []string{"--owner", "shop"}, 1,
			[]string{"shop.yaml:2:", `owner is "web"`, "leave the owner out"}},
		{"a wrong type", "servers:\n  - service: shop.test.gslb.test\n    port: https\n", nil, 2,
			[]string{"shop.yaml:3:", `port is "https"`, "give a whole number"}},
		{"the same twice", "domains:\n  - {name: a.test.gslb.test}\n  - {name: A.test.gslb.test.}\n", nil, 2,
			[]string{"shop.yaml:3:", "is there twice"}},
		{"a file that was cut", everyKind[:len(everyKind)/2], nil, 2, []string{"shop.yaml:", "not valid YAML"}},
		{"aliases of aliases", bomb + "domains: *i\n", nil, 2, []string{"shop.yaml:1:", "unknown key"}},
		{"aliases of aliases in an object", "domains:\n  - name: a.test.gslb.test\n    tags:\n    - " +
			strings.ReplaceAll(strings.TrimSpace(bomb[strings.Index(bomb, "&a"):]), "\n", "\n    - ") + "\n", nil, 2,
			[]string{"shop.yaml:2:", "excessive aliasing"}},
		{"aliases in an object", "domains:\n  - name: &n a.test.gslb.test\n    tags: &t [x]\n    ttl: *t\n", nil, 2,
			[]string{"shop.yaml:4:", `ttl is ["x"]: give a whole number`}},
		{"settings of one node", "settings:\n  - {section: logging, values: {level: debug}}\n", nil, 2,
			[]string{"shop.yaml:2:", "dns, health-check"}},
		{"a secret", "settings:\n  - {section: dns, values: {token: x}}\n", nil, 2, []string{"shop.yaml:2:", "token"}},
		{"nothing", "", nil, 2, []string{"shop.yaml is empty", "regions, domains"}},
		{"100 MiB", strings.Repeat("# much\n", 100<<20/7), nil, 2, []string{"shop.yaml", "16 MiB", "several documents"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(c.text, c.args...).Want(t, c.code, c.words...)
		})
	}
	if after := control(t, n, "export").Output; after != before {
		t.Errorf("refused, and\n%s\nbecame\n%s", before, after)
	}
}
