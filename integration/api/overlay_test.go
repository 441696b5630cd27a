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

// API values over a domain, a region, a server and its check in the file are in the answers when the call returns. They
// survive SIGKILL and a reload of another file, and end when the overlay is deleted.
func TestOverlay_SurvivesAKillAndAReloadUntilItIsDropped(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	n := s.Nodes[0]
	for _, b := range s.Backends {
		n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{Address: b.At.Addr(),
			Port: b.At.Port(), Weight: 100, Service: testbed.OtherName, HealthCheck: s.Timing.Check()})
	}
	s.StartAll(t)
	first := s.Backends[0].At
	id := fmt.Sprintf("%s:%s:%d", testbed.OtherName, first.Addr(), first.Port())
	awaitHealthy(t, n, 2)
	wantAnswers(t, n, first.Addr().String(), 5, 50)

	ttl, policy, weight, priority, enabled := 77, "weighted", 900, 3, false
	laid, err := n.Client.ChangeDomain(t.Context(), testbed.OtherName, api.DomainChange{"ttl": ttl,
		"routing_algorithm": policy})
	if err != nil || laid.Domain.Overlay == nil || string(laid.Domain.Overlay.Configured["ttl"]) != "5" {
		t.Fatalf("%+v, %v", laid, err)
	}
	if _, err := n.Client.PatchServer(t.Context(), id, api.ServerChange{"weight": weight}); err != nil {
		t.Fatal(err)
	}
	wantAnswers(t, n, first.Addr().String(), 77, 90)
	if _, err := n.Client.ChangeRegion(t.Context(), "eu", api.RegionChange{"priority": priority,
		"enabled": enabled}); err != nil {
		t.Fatal(err)
	}
	testbed.Kill(t, n)
	testbed.Start(t, n)
	awaitHealthy(t, n, 2)
	wantAnswers(t, n, first.Addr().String(), 77, 90)
	if eu, err := n.Client.Region(t.Context(), "eu"); err != nil || eu.Enabled || eu.Priority != 3 {
		t.Errorf("%+v, %v", eu, err)
	}
	for i := range n.File.Domains {
		n.File.Domains[i].TTL = 33
	}
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	wantAnswers(t, n, first.Addr().String(), 77, 90)
	list, err := n.Client.Overlays(t.Context())
	if err != nil || list.Total != 3 || !list.Overlays[0].InForce || string(list.Overlays[0].Configured["ttl"]) != "33" {
		t.Errorf("domain, region and server: %+v, %v", list, err)
	}

	for _, err := range []error{n.Client.ResetDomain(t.Context(), testbed.OtherName),
		n.Client.ResetServer(t.Context(), id), n.Client.ResetRegion(t.Context(), "eu")} {
		if err != nil {
			t.Error(err)
		}
	}
	wantAnswers(t, n, first.Addr().String(), 33, 50)
	status := "204"
	if _, err := n.Client.ChangeServerHealthCheck(t.Context(), id,
		api.HealthCheckChange{"expected_status": status}); err != nil {
		t.Fatal(err)
	}
	awaitHealthy(t, n, 1)
	wantAnswers(t, n, first.Addr().String(), 33, 0)
	if err := n.Client.ResetServer(t.Context(), id); err != nil {
		t.Error(err)
	}
	awaitHealthy(t, n, 2)
	if list, err := n.Client.Overlays(t.Context()); err != nil || list.Total != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// awaitHealthy waits until the given number of servers is healthy.
func awaitHealthy(t *testing.T, n *harness.Node, want int) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, fmt.Sprintf("%d healthy servers", want), func(context.Context) error {
		d, err := n.Client.Domain(t.Context(), testbed.OtherName)
		if err == nil && d.Domain.HealthyBackends != want {
			err = fmt.Errorf("%d are healthy", d.Domain.HealthyBackends)
		}
		return err
	})
}

// wantAnswers sends several queries, so that the rotation includes both servers. It checks the TTL, and the share of
// the first server in percent.
func wantAnswers(t *testing.T, n *harness.Node, first string, ttl uint32, percent int) {
	t.Helper()
	const questions = 200
	got := 0
	for range questions {
		r := testbed.Exchange(t, "udp", n, testbed.OtherName, dns.TypeA)
		if len(r.Answer) != 1 || r.Answer[0].Header().Ttl != ttl {
			t.Fatalf("want one answer with a TTL of %d: %v", ttl, r)
		}
		if r.Answer[0].(*dns.A).A.String() == first {
			got++
		}
	}
	if share := got * 100 / questions; share < percent-9 || share > percent+9 {
		t.Errorf("%s is %d%% of the answers, want about %d%%", first, share, percent)
	}
}
