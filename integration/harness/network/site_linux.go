package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"
)

// Site is a network of hosts with one link to the router. All hosts are in the same namespace and share its ports, like
// several addresses of a machine.
type Site struct {
	Name string

	network   *Network
	namespace *namespace
	wire      *wire // nil: no delay
	number    int
	hosts     int
}

// Host has the addresses of a host: private (RFC 1918), unique local (RFC 4193) and link-local.
type Host struct {
	IPv4, IPv6, Link netip.Addr
}

const (
	uplink = "uplink" // a site's interface
	// secondUplink is the second interface of a site with two uplinks.
	secondUplink = "uplink2"
	routerHost   = 1  // the router's number in each site
	maxName      = 15 // letters of an interface's name
	maxSites     = 255
)

// AddSite creates a site and its link to the router, with a delay in each direction. The link's interface at the router
// has the site's name.
func (n *Network) AddSite(name string, delay time.Duration) (*Site, error) {
	if name == "" || len(name) > maxName || len(n.sites) == maxSites {
		return nil, fmt.Errorf("site %q: want a name of 1 to %d letters, and %d sites at most", name, maxName, maxSites)
	}
	inside, err := newNamespace()
	if err != nil {
		return nil, err
	}
	s := &Site{Name: name, network: n, namespace: inside, number: len(n.sites) + 1, hosts: routerHost}
	n.sites = append(n.sites, s)
	if delay == 0 {
		err = link(inside, uplink, n.router, name)
	} else {
		err = n.wire(s, delay)
	}
	router := s.host(routerHost)
	err = errors.Join(err, n.router.address(name, router))
	if err = errors.Join(err, s.routes()); err != nil {
		return nil, fmt.Errorf("site %s: %w", name, err)
	}
	return s, nil
}

// link joins two namespaces with a pair of interfaces, both up.
func link(a *namespace, nameA string, b *namespace, nameB string) error {
	there := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), b.file.Fd())
	return errors.Join(
		a.run("", "ip", "link", "add", "name", nameA, "type", "veth", "peer", "name", nameB, "netns", there),
		a.run("", "ip", "link", "set", "dev", nameA, "up"),
		b.run("", "ip", "link", "set", "dev", nameB, "up"),
	)
}

// address adds the addresses of a host to an interface.
func (n *namespace) address(device string, h Host) error {
	return errors.Join(
		n.run("", "ip", "address", "add", h.IPv4.String()+"/24", "dev", device),
		n.run("", "ip", "address", "add", h.IPv6.String()+"/64", "dev", device, "nodad"),
		n.run("", "ip", "address", "add", h.Link.String()+"/64", "dev", device, "nodad"),
	)
}

// host returns the addresses of the host with a number.
func (s *Site) host(number int) Host {
	site, host := byte(s.number), byte(number)
	return Host{
		IPv4: netip.AddrFrom4([4]byte{10, 77, site, host}),
		IPv6: netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x77, 7: site, 15: host}),
		Link: netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 14: 0x77, 15: host}),
	}
}

// Networks returns the prefixes that contain all hosts of the site.
func (s *Site) Networks() (v4, v6 netip.Prefix) {
	h := s.host(0)
	return netip.PrefixFrom(h.IPv4, 24), netip.PrefixFrom(h.IPv6, 64)
}

// AddHost adds the addresses of a further host to the site. The addresses are usable when AddHost returns. A packet
// without an explicit source address has the address of the first host.
func (s *Site) AddHost() (Host, error) {
	s.hosts++
	h := s.host(s.hosts)
	return h, s.namespace.address(uplink, h)
}

// AddAddress adds an address outside the networks of the site to the site, and a route for it to the router.
func (s *Site) AddAddress(a netip.Addr) error {
	add := []string{"ip", "address", "add", a.String(), "dev", uplink}
	if a.Is6() {
		add = append(add, "nodad") // the address is unique; duplicate address detection would delay its use
	}
	return errors.Join(
		s.namespace.run("", add...),
		s.network.router.run("", "ip", "route", "add", a.String(), "dev", s.Name),
	)
}

// Delay changes the delay of packets in each direction. The site must have been created with a delay.
func (s *Site) Delay(delay time.Duration) { s.wire.delay.Store(int64(delay)) }

// MTU reduces the MTU between the site and the router, in both directions.
func (s *Site) MTU(octets int) error {
	size := strconv.Itoa(octets)
	return errors.Join(
		s.namespace.run("", "ip", "link", "set", "dev", uplink, "mtu", size),
		s.network.router.run("", "ip", "link", "set", "dev", s.Name, "mtu", size),
	)
}

// Hole drops packets of more than the given number of octets to and from the site. The hosts do not learn the smaller
// size, because the ICMP message "packet too big" is filtered (RFC 2923, section 2.1). If a sender leaves segmentation
// to its network card, the hole sees the large packet only on the way to the site. To limit such packets in both
// directions, both sites need a hole.
func (s *Site) Hole(octets int) error {
	return errors.Join(
		s.network.router.run("", "ip", "link", "set", "dev", s.Name, "mtu", strconv.Itoa(octets)),
		s.network.router.run(`table inet silent {
	chain output {
		type filter hook output priority 0
		icmp type destination-unreachable drop
		icmpv6 type packet-too-big drop
	}
}
`, "nft", "-f", "-"),
	)
}

// AddUplink adds a second link to the router, with a separate network and one host. The site uses the link while the
// first link is down. A packet without an explicit source address then has the address of this host.
func (s *Site) AddUplink(name string) (Host, error) {
	n := s.network
	if name == "" || len(name) > maxName || len(n.sites) == maxSites {
		return Host{}, fmt.Errorf("uplink %q: want a name of 1 to %d letters, and %d networks at most", name, maxName,
			maxSites)
	}
	second := &Site{Name: name, network: n, namespace: s.namespace, number: len(n.sites) + 1, hosts: routerHost + 1}
	n.sites = append(n.sites, second)
	router, h := second.host(routerHost), second.host(second.hosts)
	err := errors.Join(link(s.namespace, secondUplink, n.router, name), n.router.address(name, router),
		s.namespace.address(secondUplink, h))
	for _, via := range []netip.Addr{router.IPv4, router.IPv6} {
		err = errors.Join(err, s.namespace.run("", "ip", "route", "add", "default", "via", via.String(), "dev", secondUplink,
			"metric", "2000", "onlink"))
	}
	return h, err
}

// Uplink takes the first link of the site down, or restores it.
func (s *Site) Uplink(up bool) error {
	if !up {
		return s.namespace.run("", "ip", "link", "set", "dev", uplink, "down")
	}
	// the system removed the IPv6 addresses and the routes together with the link
	err := s.namespace.run("", "ip", "link", "set", "dev", uplink, "up")
	for number := routerHost + 1; number <= s.hosts; number++ {
		h := s.host(number)
		for address, bits := range map[netip.Addr]string{h.IPv6: "/64", h.Link: "/64"} {
			err = errors.Join(err, s.namespace.run("", "ip", "address", "replace", address.String()+bits, "dev", uplink,
				"nodad"))
		}
	}
	return errors.Join(err, s.routes())
}

// routes sets the default routes of the site to the router.
func (s *Site) routes() (err error) {
	router := s.host(routerHost)
	for _, via := range []netip.Addr{router.IPv4, router.IPv6} {
		err = errors.Join(err, s.namespace.run("", "ip", "route", "replace", "default", "via", via.String(), "dev", uplink,
			"metric", "1000", "onlink"))
	}
	return err
}

// Inside calls f on a separate thread in the site's namespace. Sockets that f opens and programs that f starts stay in
// the namespace for their whole life; the kernel may end such a program when f returns. Goroutines that f starts run
// outside the namespace. f must not end its own goroutine.
func (s *Site) Inside(f func() error) error { return s.namespace.inside(f) }

// Dial is net.Dialer.DialContext from the site, for addresses only, without name resolution.
func (s *Site) Dial(ctx context.Context, network, at string) (net.Conn, error) {
	return s.namespace.dial(ctx, netip.Addr{}, network, at)
}

// DialFrom is Dial from one of the site's addresses.
func (s *Site) DialFrom(ctx context.Context, from netip.Addr, network, at string) (net.Conn, error) {
	return s.namespace.dial(ctx, from, network, at)
}
