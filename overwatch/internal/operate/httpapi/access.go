package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/hostrule"
	"gslb.internal/shared/model"
)

// access contains the rules for networks and hosts. It is compiled from the configuration and immutable.
type access struct {
	networks   []netip.Prefix
	trustProxy bool
	checkHost  bool
	hosts      *hostrule.Rule
}

// newAccess compiles the rules for a listener at local. It accepts the given names as Host, in addition to the
// configured hosts.
func newAccess(cfg config.API, local net.Addr, names ...string) *access {
	a := &access{trustProxy: cfg.TrustProxyHeaders, hosts: hostrule.New(slices.Concat(cfg.AllowedHosts, names)...)}
	for _, network := range cfg.AllowedNetworks {
		a.networks = append(a.networks, model.Network(network))
	}
	a.checkHost = len(cfg.AllowedHosts) > 0
	if tcp, ok := local.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		a.checkHost = true
	}
	return a
}

// permits reports whether an allowed network contains an unmapped address. 0.0.0.0/0 contains only IPv4 addresses, and
// ::/0 only IPv6 addresses.
func (a *access) permits(addr netip.Addr) bool {
	return slices.ContainsFunc(a.networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// client returns the client address of a request, and whether it may use protected paths. X-Forwarded-For is used only
// on a connection from an allowed network, and its address must also be allowed. An invalid forwarded address is
// rejected.
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

// forwardedAddress parses one element of X-Forwarded-For: an address, with or without brackets and port.
func forwardedAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return plain(withPort.Addr()), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return plain(addr), err == nil
}

// plain returns an address without zone, and an IPv4-mapped address as IPv4, for the comparison with networks.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// hostAllowed reports whether the Host of a request is valid: a name of this node, or any host if the check is
// disabled.
func (a *access) hostAllowed(host string) bool { return !a.checkHost || a.hosts.Allows(host) }

// refusal writes the error response to a client outside the allowed networks.
func refusal(client netip.Addr) *problem {
	if !client.IsValid() {
		return problemf(http.StatusForbidden,
			"the address of the client cannot be read, so api.allowed_networks cannot admit it")
	}
	return problemf(http.StatusForbidden, "%s is not in api.allowed_networks", client)
}

// misdirected returns the error for a request with a Host that is not a name of this node.
func misdirected(host string) *problem {
	return problemf(http.StatusMisdirectedRequest,
		"the host %s is not a name of this node: use its address, or add the name to api.allowed_hosts",
		fmt.Sprintf("%.260q", host))
}
