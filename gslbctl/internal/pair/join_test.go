package pair // inside: it uses plan, at and readYAML

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A node that joins two nodes has the configuration that init writes for the third of three nodes.
func TestJoin_TheFileIsThatOfAThirdNode(t *testing.T) {
	two, three := plan(), plan()
	two.Nodes = []Node{at("ns1", "203.0.113.10"), at("ns2", "198.51.100.10", "2001:db8::10")}
	three.Nodes = append(slices.Clone(two.Nodes), at("ns3", "192.0.2.53"))
	dir, all := t.TempDir(), t.TempDir()
	files, _, err := Write(dir, two)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := Write(all, three)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := Join(dir, files.Overwatch[1], at("ns3", "192.0.2.53"), "")
	if err != nil {
		t.Fatal(err)
	}
	secret := func(path string, keys ...string) any { return of(readYAML(t, path), keys...) }
	for _, keys := range [][]string{{"overwatch", "gossip", "encryption_key"}, {"overwatch", "agent_tokens"},
		{"overwatch", "dnssec", "key_sync", "secret"}, {"api", "tokens", "admin", "admin"}} {
		got, old := secret(joined.File, keys...), secret(files.Overwatch[1], keys...)
		if got == nil || fmt.Sprint(got) != fmt.Sprint(old) {
			t.Errorf("%v differs from the existing node", keys)
		}
	}
	got, third := readYAML(t, joined.File), readYAML(t, want.Overwatch[2])
	for _, keys := range [][]string{{"overwatch", "identity", "node_id"}, {"dns"}, {"api", "address"}, {"metrics"}} {
		if a, b := fmt.Sprint(of(got, keys...)), fmt.Sprint(of(third, keys...)); a != b {
			t.Errorf("%v: %s, want %s", keys, a, b)
		}
	}
	for _, keys := range [][]string{{"overwatch", "dnssec", "key_sync", "peers"}, {"api", "allowed_networks"}} {
		a, b := of(got, keys...).([]any), of(third, keys...).([]any)
		slices.SortFunc(a, byText)
		slices.SortFunc(b, byText)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%v: %v, want %v", keys, a, b)
		}
	}
	if joined.NewSecret || joined.API != "" || len(joined.Peers) != 3 || joined.Existing != "ns2" {
		t.Errorf("%+v", joined)
	}
	agents := []string{"203.0.113.10:7946", "198.51.100.10:7946", "192.0.2.53:7946"}
	parent := []string{"gslb.example.com. 3600 IN NS ns3.gslb.example.com.",
		"ns3.gslb.example.com. 3600 IN A 192.0.2.53"}
	if !slices.Equal(joined.Agents, agents) || !slices.Equal(joined.Parent, parent) {
		t.Errorf("%q, %q", joined.Agents, joined.Parent)
	}
	if info, err := os.Stat(joined.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if _, err := Join(dir, files.Overwatch[1], at("ns3", "192.0.2.53"), ""); err == nil {
		t.Error("an existing file was overwritten")
	}
}

func byText(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// A single node exchanges no keys, and its API is on loopback. The second node adds the secret and opens the API.
// Listeners at an address of the existing node get the address of the new node, and comments stay.
func TestJoin_ASecondNode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overwatch.yaml")
	const text = `# a comment
overwatch:
  identity: {node_id: NS1, region: eu}
  gossip: {bind_address: "203.0.113.10:7000", encryption_key_file: gossip.key}
dns:
  listen_address: ["203.0.113.10:53", "127.0.0.1:53"] # two
  zones:
    - {name: gslb.example.com., nameservers: [ns1.gslb.example.com],
       records: ["ns1.gslb.example.com. 60 IN A 203.0.113.10"]}
    - {name: other.example, nameservers: [ns1.gslb.example.com, dns.example.net]}
    - {name: third.example, nameservers: [dns.example.net]}
`
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	joined, err := Join(t.TempDir(), file, at("ns2", "192.0.2.53"), "us")
	if err != nil {
		t.Fatal(err)
	}
	made, _ := os.ReadFile(joined.File)
	got := readYAML(t, joined.File)
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"overwatch", "identity", "region"}, "us"}, {[]string{"overwatch", "gossip", "bind_address"},
			"192.0.2.53:7000"},
		{[]string{"dns", "listen_address"}, "[192.0.2.53:53 127.0.0.1:53]"}, {[]string{"api", "address"}, ":8080"},
		{[]string{"overwatch", "dnssec", "key_sync", "peers"}, "[http://203.0.113.10:8080]"},
	} {
		if text := fmt.Sprint(of(got, c.keys...)); text != c.want {
			t.Errorf("%v is %s, want %s", c.keys, text, c.want)
		}
	}
	if !strings.HasPrefix(string(made), "# a comment\n") || !strings.Contains(string(made), "# two") {
		t.Errorf("comments are lost:\n%s", made)
	}
	if !joined.NewSecret || joined.API != ":8080" || len(joined.Zones) != 2 || len(joined.Zones[1].Records) != 0 ||
		!slices.Equal(joined.Secrets, []string{"gossip.key"}) ||
		!slices.Equal(joined.Agents, []string{"203.0.113.10:7000", "192.0.2.53:7000"}) {
		t.Errorf("%+v", joined)
	}
	for _, c := range []struct{ old, new, want string }{
		{"node_id: NS1, ", "", "node_id is missing"}, {"NS1", "ns2", "another name"}, {"IN A 203.0.113.10", "IN TXT x",
			"no zone has an address"},
		{"# a comment", "api: {address: 8080}", "api.address"}, {"# a comment", "a: [", "yaml"},
	} {
		write(strings.Replace(text, c.old, c.new, 1))
		if _, err := Join(t.TempDir(), file, Node{Name: "ns2", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.53")}},
			""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.new, err)
		}
	}
	for node, want := range map[string]string{"203.0.113.10": "another node of the cluster has this address",
		"198.51.100.10": "another node of the cluster has this address"} {
		write(strings.Replace(text, "  gossip:",
			"  dnssec: {key_sync: {peers: [\"http://198.51.100.10:8080\"]}}\n  gossip:", 1))
		if _, err := Join(t.TempDir(), file, at("ns2", node), ""); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", node, err)
		}
	}
	write(strings.ReplaceAll(text, "203.0.113.10", "127.0.0.1"))
	if _, err := Join(t.TempDir(), file, at("ns2", "192.0.2.53"), ""); err == nil ||
		!strings.Contains(err.Error(), "without --local") {
		t.Errorf("a node joins a cluster on one machine: %v", err)
	}
	if _, err := Join(t.TempDir(), file, at("ns2"), ""); err == nil {
		t.Error("a node without an address joins")
	}
}

// The new node has a name that no node of the cluster has, in any case of letters.
func TestJoin_RefusesTheNameOfAnotherNode(t *testing.T) {
	p := plan()
	p.Nodes = []Node{at("ns1", "203.0.113.10"), at("ns2", "198.51.100.10")}
	files, _, err := Write(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(files.Overwatch[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ node, old, new, want string }{
		{"ns1", "", "", "another node of the cluster has this name: nameservers of the zone gslb.example.com has " +
			"ns1.gslb.example.com: give the new node another name"},
		{"ns1", "- \"ns1.gslb.example.com\"", "- \"NS1.gslb.example.com.\"", "this name: nameservers"},
		{"ns1", "- \"ns1.gslb.example.com\"", "- \"dns.example.net\"", "this name: records"},
		{"ns2", "node_id: \"ns2\"", "node_id: \"NS2\"", "is the name of the existing node"},
	} {
		text := strings.Replace(string(written), c.old, c.new, 1)
		if c.old != "" && text == string(written) {
			t.Fatalf("the file has no %s:\n%s", c.old, written)
		}
		file, dir := filepath.Join(t.TempDir(), "overwatch.yaml"), t.TempDir()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Join(dir, file, at(c.node, "192.0.2.53"), "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %q: %v", c.node, c.new, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s, %q: wrote %v, %v", c.node, c.new, list, err)
		}
	}
}
