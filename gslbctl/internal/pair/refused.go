package pair

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// checkBackends returns an error if a node would reject a backend: at a listener port of the node, or at a loopback or
// link-local address. A node accepts a loopback address only if its gossip listens only on loopback.
func (p *Plan) checkBackends() error {
	for _, s := range p.Services {
		for _, at := range s.Backends {
			for i := range p.Nodes {
				if why := p.Nodes[i].refuses(at); why != "" {
					return fmt.Errorf("--service %s=%s: the node %s would refuse this backend: %s", s.Name, at, p.Nodes[i].Name, why)
				}
			}
		}
	}
	return nil
}

// refuses returns the reason why the node rejects a backend, or "" if it accepts the backend.
func (n *Node) refuses(at netip.AddrPort) string {
	own := at.Addr().IsLoopback() || slices.Contains(n.Addresses, at.Addr())
	for _, l := range []struct{ flag, address string }{
		{"--dns-listen", n.DNS}, {"--gossip-listen", n.Gossip}, {"--api-listen", n.API}, {"--metrics-listen", n.Metrics},
	} {
		_, port, _ := net.SplitHostPort(l.address)
		if own && port == strconv.Itoa(int(at.Port())) {
			return fmt.Sprintf("it listens on port %s itself; give the backend another port, or change %s", port, l.flag)
		}
	}
	host, _, _ := net.SplitHostPort(n.Gossip)
	gossip, _ := netip.ParseAddr(host)
	switch {
	case at.Addr().IsLoopback() && !gossip.IsLoopback():
		return "loopback addresses are different machines for agents and clients; give an address that clients reach"
	case at.Addr().IsLinkLocalUnicast():
		return "clients cannot reach link-local addresses; give an address that clients reach"
	}
	return ""
}
