package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The settings of checks, including whether checks are enabled, take effect immediately and survive SIGKILL.
func TestSettings_OfChecksCountAtOnceAndAfterAKill(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n := s.Nodes[0]
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	set := func(change api.HealthCheckConfigChange) {
		t.Helper()
		got, err := n.Client.ChangeHealthCheckConfig(t.Context(), change)
		if must(err); len(got.RestartRequired) != 0 || len(got.Overlay) == 0 {
			t.Errorf("after a change of the checks: %+v", got)
		}
	}
	set(api.HealthCheckConfigChange{UnhealthyThreshold: ptr(1000), HealthyThreshold: ptr(7),
		MaxConcurrentChecks: ptr(9)})
	// no process listens at this port
	dead, err := n.Client.CreateServer(t.Context(),
		api.ServerChange{"service": testbed.AppName, "address": "127.0.3.77", "port": 9, "region": "eu"})
	must(err)
	own, err := n.Client.ServerHealthCheck(t.Context(), dead.ID)
	if must(err); own.HealthCheck.FailureThreshold != 1000 || own.HealthCheck.SuccessThreshold != 7 {
		t.Errorf("the check of a server without one of its own: %+v", own)
	}
	testbed.Until(t, testbed.StartBound, "a server without a verdict", reason(n, dead.ID, "no check result yet"))
	set(api.HealthCheckConfigChange{UnhealthyThreshold: ptr(2)})
	testbed.Until(t, testbed.StartBound, "the lower threshold", reason(n, dead.ID, "own checks fail"))

	set(api.HealthCheckConfigChange{ValidationEnabled: ptr(false)})
	must(reason(n, dead.ID, "unmonitored: own checks are disabled and it has no agent")(t.Context()))
	testbed.Kill(t, n)
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "checks that are off", reason(n, dead.ID,
		"unmonitored: own checks are disabled and it has no agent"))
	kept, err := n.Client.HealthCheckConfig(t.Context())
	must(err)
	if c := kept.Config; c.ValidationEnabled || c.MaxConcurrentChecks != 9 || c.UnhealthyThreshold != 2 {
		t.Errorf("after a kill: %+v", kept)
	}
	set(api.HealthCheckConfigChange{ValidationEnabled: ptr(true)})
	testbed.Until(t, testbed.StartBound, "checks that are on again", reason(n, dead.ID, "own checks fail"))
	must(n.Client.ResetConfig(t.Context(), "health-check"))
	reset, err := n.Client.HealthCheckConfig(t.Context())
	must(err)
	if c := reset.Config; len(reset.Overlay) != 0 || c.UnhealthyThreshold != 3 || c.MaxConcurrentChecks != 1024 {
		t.Errorf("the file's settings do not count again: %+v", reset)
	}
}

// The settings of DNS answers take effect immediately and survive SIGKILL.
func TestSettings_OfDNSCountAtOnceAndAfterAKill(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n := s.Nodes[0]
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(answerTTLs(t, n, 5, 30)) // as the file says
	for _, c := range []struct {
		change        api.DNSConfigChange
		ttl, negative uint32
	}{
		{api.DNSConfigChange{MinTTL: ptr(17)}, 17, 30},
		{api.DNSConfigChange{NegativeTTL: ptr(3)}, 17, 3},
		{api.DNSConfigChange{MinTTL: ptr(0), MaxTTL: ptr(4)}, 4, 3},
	} {
		got, err := n.Client.ChangeDNSConfig(t.Context(), c.change)
		if must(err); len(got.RestartRequired) != 0 {
			t.Errorf("restart required: %v", got.RestartRequired)
		}
		must(answerTTLs(t, n, c.ttl, c.negative))
	}
	_, err := n.Client.ChangeDNSConfig(t.Context(), api.DNSConfigChange{MaxUDPSize: ptr(512)})
	must(err)
	testbed.Kill(t, n)
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "the settings of before", func(ctx context.Context) error {
		if _, err := n.Client.DNSConfig(ctx); err != nil {
			return err
		}
		return answerTTLs(t, n, 4, 3)
	})
	kept, err := n.Client.DNSConfig(t.Context())
	must(err)
	if kept.Config.MaxUDPSize != 512 || strings.Join(kept.Overlay, " ") != "max_ttl max_udp_size negative_ttl" {
		t.Errorf("after a kill: %+v", kept)
	}
	must(n.Client.ResetConfig(t.Context(), "dns"))
	must(answerTTLs(t, n, 5, 30))
}

// answerTTLs checks the TTL of the answer for a name, which the API also shows, and the TTL of a negative answer.
func answerTTLs(t *testing.T, n *harness.Node, ttl, negative uint32) error {
	good := testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
	none := testbed.Exchange(t, "udp", n, "none."+testbed.AppName, dns.TypeA)
	if len(good.Answer) != 1 || good.Answer[0].Header().Ttl != ttl || len(none.Ns) == 0 ||
		none.Ns[0].Header().Ttl != negative {
		return fmt.Errorf("want %d and %d: %v, %v", ttl, negative, good.Answer, none.Ns)
	}
	if d, err := n.Client.Domain(t.Context(), testbed.AppName); err != nil || d.Domain.TTL != int(ttl) {
		return errors.Join(err, fmt.Errorf("the API says that it is %d, want %d", d.Domain.TTL, ttl))
	}
	return nil
}

// reason checks the reason for the serving state of a backend.
func reason(n *harness.Node, id, want string) func(context.Context) error {
	return func(ctx context.Context) error {
		list, err := n.Client.Backends(ctx, api.BackendFilter{})
		if err != nil {
			return err
		}
		for _, b := range list.Backends {
			if b.ID == id {
				if !strings.HasPrefix(b.Reason, want) {
					return fmt.Errorf("%s: %s, want %s", id, b.Reason, want)
				}
				return nil
			}
		}
		return fmt.Errorf("no backend %s", id)
	}
}
