package config // inside: validate_test.go shares its helpers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const (
	testKey   = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	testToken = "a-service-token-of-thirty-two-characters-or-more"
)

// head is the beginning of a valid configuration, without its backends.
const head = "mode: agent\nagent:\n  identity: {region: eu, service_token: " + testToken + "}\n" +
	"  gossip: {overwatch_nodes: ['ow:7946'], encryption_key: " + testKey + "}\n"

// smallest is the minimal valid configuration.
const smallest = head + "  backends: [{service: a.example, address: 192.0.2.1, port: 80, health_check: {type: tcp}}]\n"

func loadText(t testing.TB, text string) (*Config, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		columns := regexp.MustCompile(`((?:\.ya?ml|GSLB_[A-Z_]+):\d+):\d+`) // tests of package settings have them
		text := columns.ReplaceAllString(err.Error(), "$1")
		return c, strings.Split(strings.ReplaceAll(text, path+":", ""), "\n")
	}
	return c, nil
}

func loadReference(t testing.TB) *Config {
	t.Helper()
	text, err := os.ReadFile("testdata/agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, problems := loadText(t, string(text))
	if problems != nil {
		t.Fatal(problems)
	}
	return c
}

// The defaults equal the values of the reference file: all values of the reference file that the minimal configuration
// omits are equal.
func TestLoad_ReferenceValuesAreTheDefaults(t *testing.T) {
	reference := loadReference(t)
	small, problems := loadText(t, smallest)
	if problems != nil {
		t.Fatal(problems)
	}
	small.Agent.Predictive.Enabled = true
	for name, pair := range map[string][2]any{
		"data_dir":   {reference.DataDir, small.DataDir},
		"predictive": {reference.Agent.Predictive, small.Agent.Predictive},
		"heartbeat":  {reference.Agent.Heartbeat, small.Agent.Heartbeat},
		"logging":    {reference.Logging, small.Logging},
		"weight":     {reference.Agent.Backends[0].Weight, small.Agent.Backends[0].Weight},
		"check":      {reference.Agent.Backends[1].HealthCheck.Spec(), small.Agent.Backends[0].HealthCheck.Spec()},
		"interval":   {reference.Agent.Backends[0].HealthCheck.Interval, small.Agent.Backends[0].HealthCheck.Interval},
		"timeout":    {reference.Agent.Backends[0].HealthCheck.Timeout, small.Agent.Backends[0].HealthCheck.Timeout},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: reference %v, default %v", name, pair[0], pair[1])
		}
	}
	if w := append(reference.Warnings(), small.Warnings()...); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
}

func TestLoad_EachServiceHasItsToken(t *testing.T) {
	other := strings.ToUpper(testToken)
	c, problems := loadText(t, "mode: agent\nagent:\n  data_dir: /x\n"+
		"  identity: {region: eu, service_token: "+testToken+", service_tokens: {B.example.: "+other+"}}\n"+
		"  gossip: {overwatch_nodes: ['ow:7946'], encryption_key: "+testKey+", previous_encryption_keys: "+
		"[\"AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"]}\n"+
		"  backends: [{service: A.Example., address: 192.0.2.1, port: 80, health_check: {type: tcp}}, {service: "+
		"b.example, address: 192.0.2.1, port: 80, health_check: {type: tcp}}]\n")
	if problems != nil {
		t.Fatal(problems)
	}
	tokens := c.Tokens()
	if len(tokens) != 2 || tokens["a.example"] != testToken || tokens["b.example"] != other {
		t.Errorf("tokens of %d services, or not theirs", len(tokens))
	}
	if keys := c.GossipKeys(); len(keys) != 2 || keys[0][0] != 0 || keys[1][0] != 1 || c.DataDir != "/x" {
		t.Errorf("keys %d, data_dir %q", len(keys), c.DataDir)
	}
}

func TestConfig_ShowsNoSecret(t *testing.T) {
	c := loadReference(t)
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(encoded), fmt.Sprintf("%v %+v %#v", c, c.Agent, *c)} {
		if strings.Contains(shown, testKey) || strings.Contains(shown, testToken) {
			t.Errorf("a secret is in %s", shown)
		}
	}
}
