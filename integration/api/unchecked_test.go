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

// A server with a disabled check serves regardless of its health, in the file and in the API, after SIGKILL and after a
// reload. When the check is enabled, it serves until a check has failed.
func TestUnchecked_AServerServesWithoutACheck(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 1)
	n := s.Nodes[0]
	no := false
	check := s.Timing.Check()
	check.Enabled = &no
	// no process listens at these ports
	filed := harness.Server{Service: testbed.OtherName, Address: s.Backends[0].At.Addr(), Port: 9, Weight: 100,
		HealthCheck: check}
	for i := range n.File.Regions {
		n.File.Regions[i].Servers = append(n.File.Regions[i].Servers, filed)
	}
	s.StartAll(t)
	inFile := fmt.Sprintf("%s:%s:9", filed.Service, filed.Address)
	made, err := n.Client.CreateServer(t.Context(),
		api.ServerChange{"service": testbed.AppName, "address": "127.0.3.77", "port": 9, "region": "eu"})
	if err != nil {
		t.Fatal(err)
	}
	change := func(enabled bool) {
		t.Helper()
		got, err := n.Client.ChangeServerHealthCheck(t.Context(), made.ID, api.HealthCheckChange{"enabled": enabled})
		if err != nil || *got.HealthCheck.Enabled != enabled {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	becomes := func(id, want string) {
		t.Helper()
		testbed.Until(t, testbed.StartBound, id, reason(n, id, want))
	}
	const off, fails = "unmonitored: its own check is disabled and it has no agent", "own checks fail"
	becomes(made.ID, fails)
	change(false)
	for range 2 {
		becomes(made.ID, off)
		becomes(inFile, off)
		if err := unwatched(t.Context(), n, testbed.OtherName, inFile); err != nil {
			t.Error(err)
		}
		testbed.Kill(t, n)
		testbed.Start(t, n)
		s.Ready(t, n)
	}
	for i := range n.File.Regions {
		n.File.Regions[i].Servers[len(n.File.Regions[i].Servers)-1].HealthCheck.Enabled = nil
	}
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	becomes(inFile, fails)
	becomes(made.ID, off)
	change(true)
	becomes(made.ID, fails)
}

// unwatched checks that a backend serves without a check, and that its domain has no check.
func unwatched(ctx context.Context, n *harness.Node, domain, id string) error {
	list, err := n.Client.Backends(ctx, api.BackendFilter{Service: domain})
	if err != nil {
		return err
	}
	d, err := n.Client.Domain(ctx, domain)
	if err != nil {
		return err
	}
	if d.Domain.HealthCheckID != "" {
		return fmt.Errorf("%s names the check %s", domain, d.Domain.HealthCheckID)
	}
	for _, b := range list.Backends {
		if b.ID == id && (!b.MayServe || b.ValidationHealthy != nil || b.EffectiveStatus != api.EffectiveHealthy ||
			!strings.Contains(b.Reason, "check is disabled")) {
			return fmt.Errorf("%+v", b)
		}
	}
	return nil
}
