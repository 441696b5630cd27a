package config_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"

	"gslb.internal/overwatch/internal/state/config"
)

const (
	testKey   = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	testToken = "a-service-token-of-thirty-two-characters-or-more"
)

// smallest is a minimal valid configuration.
const smallest = "mode: overwatch\noverwatch: {identity: {node_id: n}, gossip: {encryption_key: \"" + testKey + "\"}}\n"

// loadText loads files by their names, each readable by its owner only. The first file is main.yaml.
func loadText(t testing.TB, main string, others ...string) (*config.Config, []string) {
	t.Helper()
	dir := t.TempDir()
	files := append([]string{"main.yaml", main}, others...)
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(filepath.Join(dir, "main.yaml"))
	if err != nil {
		columns := regexp.MustCompile(`((?:\.ya?ml|GSLB_[A-Z_]+):\d+):\d+`) // tests of package settings have them
		text := strings.ReplaceAll(err.Error(), dir+"/", "")
		return c, strings.Split(columns.ReplaceAllString(text, "$1"), "\n")
	}
	return c, nil
}

func loadReference(t testing.TB) (*config.Config, error) {
	t.Helper()
	text, err := os.ReadFile("testdata/overwatch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overwatch.yaml") // a repository does not keep permissions
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path)
}

// The values of the reference file equal the defaults, which the minimal configuration uses.
func TestLoad_ReferenceValuesAreTheDefaults(t *testing.T) {
	reference, err := loadReference(t)
	if err != nil {
		t.Fatal(err)
	}
	small, problems := loadText(t, smallest)
	if problems != nil {
		t.Fatal(problems)
	}
	for name, pair := range map[string][2]any{
		"data_dir":       {reference.DataDir, small.DataDir},
		"bind_address":   {reference.Overwatch.Gossip.BindAddress, small.Overwatch.Gossip.BindAddress},
		"probe_interval": {reference.Overwatch.Gossip.ProbeInterval, small.Overwatch.Gossip.ProbeInterval},
		"probe_timeout":  {reference.Overwatch.Gossip.ProbeTimeout, small.Overwatch.Gossip.ProbeTimeout},
		"gossip":         {reference.Overwatch.Gossip.GossipInterval, small.Overwatch.Gossip.GossipInterval},
		"validation":     {reference.Overwatch.Validation, small.Overwatch.Validation},
		"stale":          {reference.Overwatch.Stale, small.Overwatch.Stale},
		"algorithm":      {reference.Overwatch.DNSSEC.Algorithm, small.Overwatch.DNSSEC.Algorithm},
		"dnssec":         {reference.Overwatch.DNSSEC.Enabled, small.Overwatch.DNSSEC.Enabled},
		"poll_interval":  {reference.Overwatch.DNSSEC.KeySync.PollInterval, small.Overwatch.DNSSEC.KeySync.PollInterval},
		"timeout":        {reference.Overwatch.DNSSEC.KeySync.Timeout, small.Overwatch.DNSSEC.KeySync.Timeout},
		"default_ttl":    {reference.DNS.DefaultTTL, small.DNS.DefaultTTL},
		"last_healthy":   {reference.DNS.ReturnLastHealthy, small.DNS.ReturnLastHealthy},
		"logging":        {reference.Logging, small.Logging},
		"api.address":    {reference.API.Address, small.API.Address},
		"networks":       {reference.API.AllowedNetworks, small.API.AllowedNetworks},
		"cors":           {reference.API.CORS, small.API.CORS},
		"latency":        {reference.Domains[0].LatencyConfig, reference.Domains[1].LatencyConfig},
		"weight":         {reference.Regions[0].Servers[0].Weight, reference.Regions[1].Servers[0].Weight},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: reference %v, default %v", name, pair[0], pair[1])
		}
	}
}

func TestLoad_ReferenceConfigurationIsReadWhole(t *testing.T) {
	c, err := loadReference(t)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Tokens()["app.example.com"], []string{testToken}) || len(c.GossipKeys()) != 1 ||
		len(c.GossipKeys()[0]) != 32 {
		t.Errorf("tokens %d, keys %d", len(c.Tokens()), len(c.GossipKeys()))
	}
	wantZones := []config.Zone{{Name: "gslb.example.com"}, {Name: "other.example.com",
		Nameservers: []string{"ns1.example.net", "ns2.example.net"}, Admin: "hostmaster@example.com",
		Records: []string{"www 300 CNAME app.example.com."}}}
	if !reflect.DeepEqual(c.DNS.Zones, wantZones) {
		t.Errorf("zones %+v", c.DNS.Zones)
	}
	http := check.Spec{Type: check.HTTP, Path: "/health", Host: "app.example.com", Interval: 5 * time.Second,
		Timeout: 2 * time.Second, FailureThreshold: 3, SuccessThreshold: 2}
	tcp := check.Spec{Type: check.TCP, Interval: 10 * time.Second, Timeout: 2 * time.Second, FailureThreshold: 3,
		SuccessThreshold: 2}
	want := []config.StaticServer{
		{"app.example.com", "eu-west", netip.MustParseAddr("192.0.2.10"), 8080, 100, "eu-web-1", unique.Make(http), nil,
			false},
		{"app.example.com", "us-east", netip.MustParseAddr("198.51.100.10"), 8080, 100, "", unique.Make(tcp), nil,
			false},
		{"api.gslb.example.com", "us-east", netip.MustParseAddr("198.51.100.10"), 8080, 100, "", unique.Make(tcp), nil,
			false},
	}
	if got := slices.Collect(c.StaticServers()); !slices.Equal(got, want) {
		t.Errorf("servers\n%+v, want\n%+v", got, want)
	}
	if w := c.Warnings(); len(w) != 2 || !strings.Contains(w[0], "key_sync.peers: api.address is 127.0.0.1:8080") ||
		w[1] != unboundedWarning("app.example.com") {
		t.Errorf("warnings %q", w)
	}
}

// The error for the text of a configuration does not reveal which files exist on this machine.
func TestCheckText_ReadsNoAuthorities(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(there, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{there, filepath.Join(dir, "none.pem"), dir} {
		got := config.CheckText(smallest + "regions: [{name: eu, health_check: {type: https, path: /, ca_file: " + path +
			"}}]\n")
		want := settings.Problems{{Line: 3, Column: 59, Key: "regions[0].health_check.ca_file", Value: path,
			Message: "this text is checked by itself and no file is read: leave this key out of it"}}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestLoad_NamesHaveOneForm(t *testing.T) {
	c, problems := loadText(t, smallest+`
regions: [{name: EU, servers: [{address: "::ffff:192.0.2.1", port: 80, service: App.Example.COM.}]}]
domains: [{name: APP.example.com., regions: [EU]}, {name: "*.Wild.example.com"}]
dns: {zones: [Example.COM.]}
`)
	if problems != nil {
		t.Fatal(problems)
	}
	s := c.Regions[0].Servers[0]
	if s.Service != "app.example.com" || s.Address.String() != "192.0.2.1" || c.Domains[0].Name != "app.example.com" ||
		c.Domains[1].Name != "*.wild.example.com" || c.DNS.Zones[0].Name != "example.com" || c.Regions[0].Name != "EU" {
		t.Errorf("got %+v, %+v, %+v", s, c.Domains, c.DNS.Zones)
	}
}

func TestLoad_MinHealthyIsANumberOrAPart(t *testing.T) {
	c, problems := loadText(t, smallest+"domains:\n- {name: a, min_healthy: 2}\n- {name: b, min_healthy: 50%}\n- "+
		"{name: c}\n")
	if problems != nil {
		t.Fatal(problems)
	}
	for i, want := range []string{"2", "50%", ""} {
		if got := c.Domains[i].MinHealthy; got != want {
			t.Errorf("domains[%d].min_healthy is %q, want %q", i, got, want)
		}
	}
}

func TestLoad_NodeIDIsTheHostNameUnlessGiven(t *testing.T) {
	c, problems := loadText(t, "mode: overwatch\ndata_dir:\noverwatch: {data_dir: /x, gossip: {encryption_key: "+
		"\""+testKey+"\"}}\n")
	host, err := os.Hostname()
	if err != nil || problems != nil {
		t.Fatal(err, problems)
	}
	if c.Overwatch.Identity.NodeID != host || c.DataDir != "/x" {
		t.Errorf("node_id %q, data_dir %q", c.Overwatch.Identity.NodeID, c.DataDir)
	}
}

// Problems of the caller's checks are reported once, with the file and line.
func TestLoad_ProblemsOfChecksHaveTheirPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.yaml")
	text := smallest + "dns:\n  zones:\n    - name: a.example\n      records:\n        - good\n        - bad\n    - " +
		"name: -b\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(path, func(c *config.Config) settings.Problems {
		return settings.Problems{
			{Key: "dns.zones[0].records[1]", Value: c.DNS.Zones[0].Records[1], Message: "no record"},
			{Key: "dns.zones[1].name", Value: "-b", Message: "told already"},
		}
	})
	want := path + ":8:11: dns.zones[0].records[1]: \"bad\": no record\n" +
		path + ":9:7: dns.zones[1].name: \"-b\": the label \"-b\" begins or ends with a hyphen"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestStaticServers_ServerWithoutServiceServesTheDomainsOfItsRegion(t *testing.T) {
	c, problems := loadText(t, smallest+`
regions:
  - name: a
    servers:
      - {address: 192.0.2.1, port: 80}
      - {address: 192.0.2.1, port: 80, service: one.example, weight: 7}
      - {address: 192.0.2.2, port: 80, service: two.example}
  - name: b
    servers: [{address: 192.0.2.3, port: 80}]
domains:
  - {name: one.example, regions: [a]}
  - {name: two.example, regions: [b, a]}
  - {name: none.example}
`)
	if problems != nil {
		t.Fatal(problems)
	}
	var got []string
	for s := range c.StaticServers() {
		got = append(got, fmt.Sprint(s.Service, " ", s.Region, " ", s.Address, " ", s.Weight, " ", s.Check.Value().Type,
			" ", s.Check.Value().Interval))
	}
	want := []string{
		"one.example a 192.0.2.1 7 tcp 0s",
		"two.example a 192.0.2.2 100 tcp 0s",
		"two.example b 192.0.2.3 100 tcp 0s",
		"two.example a 192.0.2.1 100 tcp 0s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each application can have a file with its domain and its servers.
func TestLoad_AnotherFileMayAddServersToARegion(t *testing.T) {
	c, problems := loadText(t, smallest+"includes: [apps/*.yaml, one.yaml]\nregions: [{name: a, health_check: {type: "+
		"http, path: /up}}, {name: b}]\n",
		"one.yaml", "regions: [{name: a, servers: [{address: 192.0.2.1, port: 80, service: one.example, host: "+
			"one.example}]}]\ndomains: [{name: one.example, regions: [a]}]\n")
	if problems != nil {
		t.Fatal(problems)
	}
	servers := slices.Collect(c.StaticServers())
	if len(c.Regions) != 2 || servers[0].Region != "a" || servers[0].Check.Value().Path != "/up" {
		t.Errorf("regions %+v", c.Regions)
	}
	_, problems = loadText(t, smallest+"includes: [one.yaml]\nregions:\n- name: a\n- name: a\n",
		"one.yaml", "regions:\n- name: a\n  continents: [EU]\n- name: a\n  priority: 5\n")
	want := []string{
		`main.yaml:6: regions[1].name: "a": is already regions[0] (main.yaml:5): keep one; another file may only add ` +
			`servers to it`,
		`one.yaml:2: regions[2].name: "a": is already regions[0] (main.yaml:5): keep one; another file may only add ` +
			`servers to it`,
		`one.yaml:4: regions[3].name: "a": is already regions[0] (main.yaml:5): keep one; another file may only add ` +
			`servers to it`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
}

func TestConfig_ShowsNoSecret(t *testing.T) {
	c, err := loadReference(t)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(encoded), fmt.Sprintf("%v %+v %#v", c, c.Overwatch, *c)} {
		for _, secret := range []string{testKey, testToken, "that-only-overwatch-nodes-hold"} {
			if strings.Contains(shown, secret) {
				t.Errorf("a secret is in %s", shown)
			}
		}
	}
}
