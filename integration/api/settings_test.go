package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The settings of checks count at once, also whether checks are made at all, and after a kill.
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
	set(api.HealthCheckConfigChange{UnhealthyThreshold: ptr(1000), HealthyThreshold: ptr(7), MaxConcurrentChecks: ptr(9)})
	// nothing listens at this port
	dead, err := n.Client.CreateServer(t.Context(),
		api.ServerCreate{Service: testbed.AppName, Address: "127.0.3.77", Port: 9, Region: "eu"})
	must(err)
	own, err := n.Client.ServerHealthCheck(t.Context(), dead.ID)
	if must(err); own.HealthCheck.UnhealthyThreshold != 1000 || own.HealthCheck.HealthyThreshold != 7 {
		t.Errorf("the check of a server without one of its own: %+v", own)
	}
	testbed.Until(t, testbed.StartBound, "a server without a verdict", reason(n, dead.ID, "no verdict yet"))
	set(api.HealthCheckConfigChange{UnhealthyThreshold: ptr(2)})
	testbed.Until(t, testbed.StartBound, "the lower threshold", reason(n, dead.ID, "this node's own checks fail"))

	set(api.HealthCheckConfigChange{ValidationEnabled: ptr(false)})
	must(reason(n, dead.ID, "nothing watches it")(t.Context()))
	if _, err := n.Kill(); err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "checks that are off", reason(n, dead.ID, "nothing watches it"))
	kept, err := n.Client.HealthCheckConfig(t.Context())
	if must(err); kept.Config.ValidationEnabled || kept.Config.MaxConcurrentChecks != 9 || kept.Config.UnhealthyThreshold != 2 {
		t.Errorf("after a kill: %+v", kept)
	}
	set(api.HealthCheckConfigChange{ValidationEnabled: ptr(true)})
	testbed.Until(t, testbed.StartBound, "checks that are on again", reason(n, dead.ID, "this node's own checks fail"))
	must(n.Client.ResetConfig(t.Context(), "health-check"))
	reset, err := n.Client.HealthCheckConfig(t.Context())
	if must(err); len(reset.Overlay) != 0 || reset.Config.UnhealthyThreshold != 3 || reset.Config.MaxConcurrentChecks != 1024 {
		t.Errorf("the file's settings do not count again: %+v", reset)
	}
}

// reason checks why a backend may serve or may not.
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
