package overwatch

import (
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/answer/explain"
)

// why implements dnsserver.Why for the networks of routing.why_networks.
func (n *node) why(name string, client, asker netip.Addr, subnet bool) []string {
	networks := n.state.Config().Routing.WhyNetworks
	if !slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(asker.Unmap()) }) {
		return nil
	}
	return explain.Lines(n.view(), name, client, subnet)
}
