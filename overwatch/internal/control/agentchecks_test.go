package control // inside: it uses newAgentChecks

import (
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

func TestAgentChecks_FollowThePolicies(t *testing.T) {
	block := &config.HealthCheck{}
	settings.SetDefaults(block)
	block.Type = "tcp"
	cfg := config.Default()
	cfg.Overwatch.AgentPolicies = map[string]config.AgentPolicy{
		"named.test": {AllowedCIDRs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"),
			netip.MustParsePrefix("2001:db8::/32")}},
		"checked.test": {HealthCheck: block},
	}
	local := *cfg
	local.Overwatch.Gossip.BindAddress = "127.0.0.1:7946"
	for _, tc := range []struct {
		cfg              *config.Config
		service, address string
		trusted, checked bool
	}{
		{cfg, "named.test", "192.0.2.1", true, false},
		{cfg, "named.test", "2001:db8::1", true, false},
		{cfg, "named.test", "192.0.3.1", false, false},
		{cfg, "other.test", "192.0.2.1", false, false},
		{cfg, "other.test", "127.0.0.1", false, false},
		{cfg, "checked.test", "192.0.2.1", false, true},
		{&local, "other.test", "127.0.7.1", true, false},
		{&local, "other.test", "::1", true, false},
		{&local, "other.test", "192.0.2.1", false, false},
	} {
		id, err := registry.NewID(tc.service, netip.MustParseAddr(tc.address), 80)
		if err != nil {
			t.Fatal(err)
		}
		policy := newAgentChecks(tc.cfg).policyOf(id)
		checked := policy != registry.CheckPolicy{Trusted: policy.Trusted}
		if policy.Trusted != tc.trusted || checked != tc.checked {
			t.Errorf("%s: trusted %t, checked by policy %t", id, policy.Trusted, checked)
		}
		if checked && policy.Check.Value().Type != check.TCP {
			t.Errorf("%s is checked by %+v", id, policy.Check.Value())
		}
	}
}
