package agent // inside: it uses defaultAgentID

import (
	"strings"
	"testing"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/identity"
)

func TestDefaultAgentID_IsRegionHostAndADigestOfAnUnusualDataDir(t *testing.T) {
	for _, c := range []struct{ name, region, host, dataDir, want string }{
		{"usual", "eu-west", "web1.example.com", config.DefaultDataDir, "eu-west-web1.example.com"},
		{"usual with a slash", "eu-west", "web1", config.DefaultDataDir + "/", "eu-west-web1"},
		{"unusual", "eu-west", "web1", "/srv/b", "eu-west-web1-6294551d"},
		{"no region", "", "web1", config.DefaultDataDir, "web1"},
		{"no host", "eu", "", config.DefaultDataDir, "eu"},
		{"characters an id cannot have", "Süd ost", "a/b", config.DefaultDataDir, "S-d-ost-a-b"},
		{"nothing usable", "", "…", config.DefaultDataDir, "agent"},
	} {
		if got := defaultAgentID(c.region, c.host, c.dataDir); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if a, b := defaultAgentID("eu", "web1", "/srv/a"), defaultAgentID("eu", "web1", "/srv/b"); a == b {
		t.Errorf("two agents of one host are both %q", a)
	}
}

func FuzzDefaultAgentID_IsAlwaysAnID(f *testing.F) {
	f.Add("eu-west", "web1", "/var/lib/gslb")
	f.Add("", "", "")
	f.Add("-._", strings.Repeat("x", 300), "/a\x00b")
	f.Fuzz(func(t *testing.T, region, host, dataDir string) {
		if err := identity.ValidateID(defaultAgentID(region, host, dataDir)); err != nil {
			t.Errorf("region %q, host %q, data_dir %q: %v", region, host, dataDir, err)
		}
	})
}
