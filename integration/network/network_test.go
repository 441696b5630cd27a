package network_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// rules replaces the network's rules for packets, and records them in the story.
func rules(t *testing.T, n *network.Network, s *site, rules ...string) {
	t.Helper()
	s.Story.Event("network: %q", rules)
	if err := n.Rules(rules...); err != nil {
		t.Fatal(err)
	}
}

// browser returns an HTTP client in a site, with a source address if one is given. It uses a new connection for each
// request.
func browser(at *network.Site, from netip.Addr) *http.Client {
	dial := func(ctx context.Context, network, to string) (net.Conn, error) {
		return at.DialFrom(ctx, from, network, to)
	}
	return &http.Client{Timeout: testbed.Patience, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// site is a test bed's site on a network.
type site struct{ *testbed.Site }

func newNetworkSite(t *testing.T, regions []string, others ...string) *site {
	t.Helper()
	return &site{testbed.NewNetworkSite(t, regions, others...)}
}
