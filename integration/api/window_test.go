package api_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

const windowName = "window.test.gslb.test"

// A node starts and ends maintenance windows automatically, even if it is killed between their start and their end. Its
// audit log contains each start and end once.
func TestWindow_BeginsAndEndsAcrossAKill(t *testing.T) {
	t.Parallel()
	n := testbed.StartSite(t, 1, 1).Nodes[0]
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": windowName})
	must(err)
	for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
		_, err = n.Client.CreateServer(t.Context(), api.ServerChange{"service": windowName, "address": address,
			"port":   80,
			"region": "eu"})
		must(err)
		_, err = n.Client.SetOverride(t.Context(), windowName, address, api.OverrideRequest{Healthy: ptr(true),
			Reason: "x"})
		must(err)
	}
	must(answersWith(t, n, "192.0.2.1", true))
	starts := time.Now().Add(2 * time.Second)
	long, err := n.Client.SetWeight(t.Context(), windowName, "192.0.2.1", 80,
		api.WeightRequest{Weight: ptr(0), Reason: "new disk", StartsAt: &starts, ExpiresIn: "1h"})
	if must(err); long.InForce || long.StartsAt == nil {
		t.Errorf("planned: %+v", long)
	}
	_, err = n.Client.DrainServer(t.Context(), windowName+":192.0.2.2:80",
		api.DrainRequest{Share: 0.5, StartsAt: &starts, ExpiresIn: "5s"})
	must(err)
	testbed.Until(t, testbed.StartBound, "the window to begin", func(context.Context) error {
		return answersWith(t, n, "192.0.2.1", false)
	})
	testbed.Kill(t, n)
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "one window to go on and one to end", func(ctx context.Context) error {
		list, err := n.Client.Orders(ctx)
		if err != nil {
			return err
		}
		weights := 0
		for _, o := range list.Orders {
			switch {
			case o.Kind == api.OrderDrain:
				return fmt.Errorf("the drain has not ended: %+v", o)
			case o.Kind == api.OrderWeight && o.InForce && o.Reason == "new disk":
				weights++
			}
		}
		if weights != 1 {
			return fmt.Errorf("the weight is not in force: %+v", list)
		}
		return answersWith(t, n, "192.0.2.1", false)
	})
	testbed.Until(t, testbed.StartBound, "the audit log", func(ctx context.Context) error {
		for action, want := range map[string]int{"begin": 2, "expire": 1} {
			if list, err := n.Client.AuditLog(ctx, url.Values{"actions": {action}}); err != nil || list.Total != want {
				return fmt.Errorf("%d entries %s, want %d: %w", list.Total, action, want, err)
			}
		}
		return nil
	})
	must(n.Client.ClearWeight(t.Context(), windowName, "192.0.2.1", 80))
	must(answersWith(t, n, "192.0.2.1", true))
}

// answersWith returns an error if the presence of an address in a node's answers is not as expected.
func answersWith(t *testing.T, n *harness.Node, address string, want bool) error {
	t.Helper()
	found := false
	for range 8 { // a server with a share is not in every answer
		for _, record := range testbed.Exchange(t, "udp", n, windowName, dns.TypeA).Answer {
			if a, ok := record.(*dns.A); ok && a.A.String() == address {
				found = true
			}
		}
	}
	if found != want {
		return fmt.Errorf("%s in the answers: %v, want %v", address, found, want)
	}
	return nil
}
