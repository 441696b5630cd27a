package api_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// An acknowledged API change is in the answers immediately, and survives SIGKILL and a restart of the node.
//
// Fault 14.
func TestCreated_SurvivesAKillAndIsAnsweredBeforeTheCallReturns(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n, b := s.Nodes[0], s.Backends[0]
	if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Fatalf("before: %s", dns.RcodeToString[r.Rcode])
	}
	if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": testbed.CreatedName}); err != nil {
		t.Fatal(err)
	}
	if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); r.Rcode == dns.RcodeNameError {
		t.Error("the domain is not there when the call returns")
	}
	server, err := n.Client.CreateServer(t.Context(),
		api.ServerChange{"service": testbed.CreatedName, "address": b.At.Addr().String(), "port": int(b.At.Port()),
			"region": "eu"})
	if err != nil {
		t.Fatal(err)
	}
	healthy := true
	if _, err := n.Client.SetOverride(t.Context(), testbed.CreatedName, b.At.Addr().String(),
		api.OverrideRequest{Healthy: &healthy, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); len(r.Answer) != 1 {
		t.Errorf("the server is not answered when the call returns: %v", r)
	}
	for _, c := range []struct {
		minimum string
		answers int
	}{{"2", 0}, {"50%", 1}} { // what is set last is what the rest of the test goes on with
		if _, err := n.Client.ChangeDomain(t.Context(), testbed.CreatedName,
			api.DomainChange{"min_healthy": c.minimum}); err != nil {
			t.Fatal(err)
		}
		if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); len(r.Answer) != c.answers {
			t.Errorf("with min_healthy %s and one backend, want %d answers: %v", c.minimum, c.answers, r)
		}
	}
	weight := 7
	if _, err := n.Client.PatchServer(t.Context(), server.ID, api.ServerChange{"weight": weight}); err != nil {
		t.Fatal(err)
	}
	testbed.Kill(t, n)
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "what was created",
		func(context.Context) error { return answersCreated(t, n, server.ID, weight) })
	testbed.HangUp(t, n)
	if err := answersCreated(t, n, server.ID, weight); err != nil {
		t.Errorf("after a reload: %v", err)
	}
	if err := n.Client.DeleteServer(t.Context(), server.ID); err != nil {
		t.Error(err)
	}
	if err := n.Client.DeleteDomain(t.Context(), testbed.CreatedName); err != nil {
		t.Error(err)
	}
	if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Errorf("deleted, and answered with %s", dns.RcodeToString[r.Rcode])
	}
	if done, err := n.Client.Reload(t.Context()); err != nil || !done.Reloaded ||
		len(done.Changes)+len(done.RestartRequired) != 0 {
		t.Errorf("a reload that changes nothing: %+v, %v", done, err)
	}
}

func answersCreated(t *testing.T, n *harness.Node, id string, weight int) error {
	list, err := n.Client.Servers(t.Context())
	if err != nil {
		return err
	}
	for _, server := range list.Servers {
		if server.ID != id {
			continue
		}
		if server.Weight != weight || server.Source != api.SourceAPI {
			return fmt.Errorf("the server is %+v", server)
		}
		if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); len(r.Answer) != 1 {
			return fmt.Errorf("%s with %d records", dns.RcodeToString[r.Rcode], len(r.Answer))
		}
		return nil
	}
	return fmt.Errorf("no server %s", id)
}
