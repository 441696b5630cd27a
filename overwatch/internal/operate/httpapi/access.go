package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
)

// access decides who may talk to the API at all. It is compiled once from the
// configuration and never changed.
type access struct {
	networks   []netip.Prefix
	trustProxy bool
	checkHost  bool
	hosts      []string // lower case
}

// newAccess compiles the rules for a listener on local. names are what this
// node is called beside its configured hosts.
func newAccess(cfg config.API, local net.Addr, names ...string) *access {
	a := &access{trustProxy: cfg.TrustProxyHeaders, hosts: []string{"localhost"}}
	for _, network := range cfg.AllowedNetworks {
		a.networks = append(a.networks, unmapPrefix(network))
	}
	for _, host := range slices.Concat(cfg.AllowedHosts, names) {
		a.hosts = append(a.hosts, hostName(host))
	}
	a.checkHost = len(cfg.AllowedHosts) > 0
	if tcp, ok := local.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		a.checkHost = true
	}
	return a
}

// unmapPrefix gives an IPv4 network written as IPv4-mapped IPv6 its own family.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	const mapped = 96 // bits of ::ffff:0:0/96 (RFC 4291 section 2.5.5.2)
	if p.Addr().Is4In6() && p.Bits() >= mapped {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p
}

// permits reports whether an unmapped address is in an allowed network. The
// families are apart: 0.0.0.0/0 holds no IPv6 address and ::/0 no IPv4 one.
func (a *access) permits(addr netip.Addr) bool {
	return slices.ContainsFunc(a.networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// client returns the address that the request comes from and whether it may
// use protected paths. A forwarded address counts only when the connection
// itself comes from an allowed network, and then it must be allowed as well;
// one that cannot be read is nobody's.
func (a *access) client(r *http.Request) (addr netip.Addr, allowed bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	addr = plain(peer.Addr())
	forwarded := r.Header.Values("X-Forwarded-For")
	if !a.permits(addr) || !a.trustProxy || len(forwarded) == 0 {
		return addr, a.permits(addr)
	}
	last := forwarded[len(forwarded)-1]
	addr, ok := forwardedAddress(last[strings.LastIndexByte(last, ',')+1:])
	return addr, ok && a.permits(addr)
}

// forwardedAddress reads one element of X-Forwarded-For: an address, which
// some proxies write in brackets or with a port.
func forwardedAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return plain(withPort.Addr()), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return plain(addr), err == nil
}

// plain is an address in the form that networks are compared with.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// hostAllowed reports whether the Host of a request names this node. Where it
// is checked, a browser that was lured by a DNS name of somebody else's
// (DNS rebinding) cannot talk to the node, because it sends that name.
func (a *access) hostAllowed(host string) bool {
	if !a.checkHost {
		return true
	}
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.Contains(a.hosts, name)
}

// hostName is the name or the address in a Host header, without port,
// brackets and trailing dot, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// refusal is the answer to a client outside the allowed networks.
func refusal(client netip.Addr) *problem {
	if !client.IsValid() {
		return problemf(http.StatusForbidden,
			"the address of the client cannot be read, so api.allowed_networks cannot admit it")
	}
	return problemf(http.StatusForbidden, "%s is not in api.allowed_networks", client)
}

// misdirected is the answer to a Host that is not this node's.
func misdirected(host string) *problem {
	return problemf(http.StatusMisdirectedRequest,
		"the host %s is not a name of this node: use its address, or add the name to api.allowed_hosts",
		fmt.Sprintf("%.260q", host))
}
