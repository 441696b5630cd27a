package pair

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Node is an overwatch node.
type Node struct {
	Name      string       // its node_id, and its name in the zone
	Addresses []netip.Addr // addresses for clients; agents and other nodes use the first
	DNS       string       // listener: address:port, or :port for all addresses
	Gossip    string
	API       string
	Metrics   string
}

// Default ports of listeners. A local plan uses loopback addresses and localDNSPort, which needs no privileges. Several
// nodes on one machine use successive ports.
const (
	dnsPort      = 53
	localDNSPort = 5300
	gossipPort   = 7946
	apiPort      = 8080
	metricsPort  = 9090
)

// maxNodes is the maximum number of nodes of a plan, because key exchange supports no more nodes.
const maxNodes = 32

// ParseNode parses "<name>=<ip>[,<ip>...]", or only a name.
func ParseNode(text string) (Node, error) {
	name, list, found := strings.Cut(text, "=")
	n := Node{Name: strings.ToLower(name)}
	if !labelForm.MatchString(n.Name) {
		return n, fmt.Errorf(
			"--node is %q: it must be name=ip, such as ns1=203.0.113.10; a name has letters, digits and hyphens, at "+
				"most 63",
			text)
	}
	if !found {
		return n, nil
	}
	for _, word := range strings.Split(list, ",") {
		address, err := netip.ParseAddr(strings.Trim(word, "[]"))
		if err != nil || !isMachine(address) {
			return n,
				fmt.Errorf(
					"--node is %q: %q is not the IP address of a machine; it must be name=ip, such as "+
						"ns1=203.0.113.10 or "+
						"ns1=203.0.113.10,2001:db8::10", text, word)
		}
		if address = address.Unmap(); slices.Contains(n.Addresses, address) {
			return n, fmt.Errorf("--node is %q: it has %s twice", text, address)
		}
		n.Addresses = append(n.Addresses, address)
	}
	return n, nil
}

// isMachine reports whether an address can be the address of a machine.
func isMachine(a netip.Addr) bool {
	return a.Zone() == "" && !a.IsUnspecified() && !a.IsMulticast() && a != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// completeNodes sets the omitted values and the listeners of each node.
func (p *Plan) completeNodes() error {
	nodes := slices.Clone(p.Nodes)
	if len(nodes) == 0 && p.Local {
		nodes = []Node{{Name: "local"}}
	}
	if len(nodes) == 0 || len(nodes) > maxNodes {
		return fmt.Errorf(
			"%d nodes are given: name each overwatch node with --node name=ip, such as ns1=203.0.113.10, from 1 to %d",
			len(nodes), maxNodes)
	}
	for i := range nodes {
		n := &nodes[i]
		if slices.ContainsFunc(nodes[:i], func(other Node) bool { return other.Name == n.Name }) {
			return fmt.Errorf("--node %s is there twice: give each node its own name", n.Name)
		}
		if len(n.Addresses) == 0 && !p.Local {
			return fmt.Errorf("--node %s has no address: it must be name=ip, such as %s=203.0.113.10", n.Name, n.Name)
		}
		if len(n.Addresses) == 0 {
			n.Addresses = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		}
	}
	p.Nodes = nodes
	for _, l := range []listener{
		{"--dns-listen", p.DNS, func(*Node) string { return fmt.Sprintf(":%d", dnsPort) }, localDNSPort,
			func(n *Node) *string { return &n.DNS }},
		{"--gossip-listen", p.Gossip, gossipListener, gossipPort, func(n *Node) *string { return &n.Gossip }},
		{"--api-listen", p.API, func(*Node) string { return apiListener(len(nodes)) }, apiPort,
			func(n *Node) *string { return &n.API }},
		{"--metrics-listen", p.Metrics, func(*Node) string { return fmt.Sprintf("127.0.0.1:%d", metricsPort) },
			metricsPort,
			func(n *Node) *string { return &n.Metrics }},
	} {
		if err := p.listen(&l); err != nil {
			return err
		}
	}
	return p.exchange()
}

// listener is a kind of listener that each node has.
type listener struct {
	flag      string
	given     []string           // one for all nodes, or one for each node; empty: the defaults
	otherwise func(*Node) string // default of a non-local plan
	localPort int                // port of the first node of a local plan; each further node has the next port
	of        func(*Node) *string
}

// gossipListener returns the default gossip listener: all addresses of the node's address family.
func gossipListener(n *Node) string {
	all := netip.IPv4Unspecified()
	if n.Addresses[0].Is6() {
		all = netip.IPv6Unspecified()
	}
	return netip.AddrPortFrom(all, gossipPort).String()
}

// apiListener returns the default API listener: loopback for a single node, all addresses for several nodes.
func apiListener(nodes int) string {
	if nodes > 1 {
		return fmt.Sprintf(":%d", apiPort)
	}
	return fmt.Sprintf("127.0.0.1:%d", apiPort)
}

// listen sets one listener of every node.
func (p *Plan) listen(l *listener) error {
	nodes := p.Nodes
	if len(l.given) > 1 && len(l.given) != len(nodes) {
		return fmt.Errorf("%s is given %d times for %d nodes: give it once for all, or once for each in their order",
			l.flag,
			len(l.given), len(nodes))
	}
	for i := range nodes {
		text := l.otherwise(&nodes[i])
		switch {
		case len(l.given) > 0:
			text = l.given[min(i, len(l.given)-1)]
		case p.Local:
			text = net.JoinHostPort(nodes[i].Addresses[0].String(), strconv.Itoa(l.localPort+i))
		}
		if err := checkListen(text); err != nil {
			return fmt.Errorf("%s is %q: %w", l.flag, text, err)
		}
		for k := range nodes[:i] {
			if shared, at := sameMachine(&nodes[k], &nodes[i]); shared && overlap(*l.of(&nodes[k]), text) {
				return fmt.Errorf("%s is %s for %s and for %s, which are both at %s: give one for each, in their order",
					l.flag,
					text, nodes[k].Name, nodes[i].Name, at)
			}
		}
		*l.of(&nodes[i]) = text
	}
	return nil
}

func sameMachine(a, b *Node) (shared bool, at netip.Addr) {
	i := slices.IndexFunc(a.Addresses, func(one netip.Addr) bool { return slices.Contains(b.Addresses, one) })
	if i < 0 {
		return false, at
	}
	return true, a.Addresses[i]
}

// overlap reports whether two listeners on one machine conflict.
func overlap(a, b string) bool {
	aHost, aPort, _ := net.SplitHostPort(a)
	bHost, bPort, _ := net.SplitHostPort(b)
	return aPort == bPort && (aHost == bHost || isAny(aHost) || isAny(bHost))
}

// isAny reports whether the host of a listener is a wildcard.
func isAny(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "" || err == nil && address.IsUnspecified()
}

func checkListen(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err == nil && host != "" {
		_, err = netip.ParseAddr(host)
	}
	if number, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || number == 0 {
		return errors.New("it must be an IP address and a port, such as 127.0.0.1:8080, or :port for all addresses")
	}
	return nil
}

// exchange returns an error if the API of a node listens only on loopback although other nodes send requests to it.
func (p *Plan) exchange() error {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		host, _, _ := net.SplitHostPort(n.API)
		address, err := netip.ParseAddr(host)
		if len(p.Nodes) > 1 && err == nil && address.IsLoopback() && !n.Addresses[0].IsLoopback() {
			return fmt.Errorf(
				"--api-listen is %q for %s: the other nodes must reach it to have the same keys; leave it out for %s",
				n.API,
				n.Name, apiListener(len(p.Nodes)))
		}
	}
	return nil
}

// reach returns the address of a listener for other machines.
func (n *Node) reach(listener string) string {
	_, port, _ := net.SplitHostPort(listener)
	return net.JoinHostPort(n.Addresses[0].String(), port)
}

// DNSAt returns a node's DNS address, host:port.
func (n *Node) DNSAt() string { return n.here(n.DNS) }

// APIAt returns the API address of a node: for the other nodes if there are several nodes, or else for its own machine.
func (n *Node) APIAt() string { return n.here(n.API) }

// Reached holds the addresses of a node's API and DNS, as host:port, that an administrator uses.
type Reached struct{ API, DNS string }

// AdminAt returns the nodes that an administrator on this machine can reach without sending the token unencrypted over
// a network: nodes with an API on loopback or on all addresses. In a non-local plan, only the first node can qualify:
// it runs on this machine or is reachable through an SSH tunnel.
func (p *Plan) AdminAt() (list []Reached) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		host, port, _ := net.SplitHostPort(n.API)
		address, err := netip.ParseAddr(host)
		if isAny(host) {
			host = "127.0.0.1"
		} else if err != nil || !address.IsLoopback() {
			continue
		}
		if i == 0 || p.Local {
			list = append(list, Reached{net.JoinHostPort(host, port), n.DNSAt()})
		}
	}
	return list
}

// here returns a listener in which the node's address replaces a wildcard address.
func (n *Node) here(listener string) string {
	if host, _, _ := net.SplitHostPort(listener); !isAny(host) {
		return listener
	}
	return n.reach(listener)
}
