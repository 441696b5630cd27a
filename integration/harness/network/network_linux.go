package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Network is a set of sites and the router between them.
type Network struct {
	router *namespace
	sites  []*Site
	wires  []*wire
}

// New creates a network without sites. The error is ErrMissing if this machine lacks a requirement.
func New() (*Network, error) {
	if err := Allowed(); err != nil {
		return nil, err
	}
	router, err := newNamespace()
	if err != nil {
		return nil, err
	}
	n := &Network{router: router}
	if err := errors.Join(router.set("ipv4/ip_forward", "1"), router.set("ipv6/conf/all/forwarding", "1"),
		n.Rules()); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// Close closes all namespaces. The kernel removes each namespace after the end of the last program in it.
func (n *Network) Close() {
	for _, w := range n.wires {
		w.close()
	}
	for _, s := range n.sites {
		s.namespace.close()
	}
	n.router.close()
}

// Dial is net.Dialer.DialContext from the router, for addresses only. The router is a neighbor of every site: in a
// link-local address, the zone is the site's name.
func (n *Network) Dial(ctx context.Context, network, at string) (net.Conn, error) {
	return n.router.dial(ctx, netip.Addr{}, network, at)
}

// Rules replaces the rules for packets between sites, each a rule in the syntax of nft. Without rules all packets pass.
func (n *Network) Rules(rules ...string) error {
	return n.router.run(fmt.Sprintf("table inet between {}\ndelete table inet between\n"+
		"table inet between { chain forward { type filter hook forward priority 0; policy accept;\n%s\n}\n}\n",
		strings.Join(rules, "\n")), "nft", "-f", "-")
}

// Between returns a rule for the packets from one site to another; nil means any site. rest is the end of the rule,
// such as "drop".
func Between(from, to *Site, rest string) string {
	rule := rest
	if to != nil {
		rule = fmt.Sprintf("oifname %q %s", to.Name, rule)
	}
	if from != nil {
		rule = fmt.Sprintf("iifname %q %s", from.Name, rule)
	}
	return rule
}

// Cut returns the rules that disconnect a site from all others.
func Cut(s *Site) []string { return []string{Between(s, nil, "drop"), Between(nil, s, "drop")} }

// Masquerade puts a site permanently behind a NAT: other sites see its hosts as the router's address on their own
// network, and cannot open connections to them. The NAT has a short lifetime: a mapping expires after a second without
// packets, and the next packet has a new source port.
func (n *Network) Masquerade(s *Site) error {
	table := fmt.Sprintf(`table inet behind_%[1]s {
	chain postrouting { type nat hook postrouting priority 100; iifname %[1]q masquerade fully-random; }
	chain forward { type filter hook forward priority 10; oifname %[1]q ct state new drop; }
}
`, s.Name)
	return errors.Join(
		n.router.run(table, "nft", "-f", "-"),
		n.router.set("netfilter/nf_conntrack_udp_timeout", "1"),
		n.router.set("netfilter/nf_conntrack_udp_timeout_stream", "1"),
	)
}
