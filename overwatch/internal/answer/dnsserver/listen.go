package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"gslb.internal/shared/segment"
)

// listenKey is the configuration key of the listen addresses, for error messages.
const listenKey = "dns.listen_address"

// address is a listen address.
type address struct {
	netip.AddrPort
	optional bool // ignored if the machine lacks the address family
}

// parseListenAddresses parses the listen addresses. A port without an address means all addresses of both families.
func parseListenAddresses(listen []string) ([]address, error) {
	var out []address
	for _, text := range listen {
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want address:port, with an IPv6 address in brackets", listenKey, text)
		}
		if host == "" {
			any4, err4 := netip.ParseAddrPort("0.0.0.0:" + port)
			any6, err6 := netip.ParseAddrPort("[::]:" + port)
			if err4 != nil || err6 != nil {
				return nil, fmt.Errorf("%s: %q: the port is not a number from 0 to 65535", listenKey, text)
			}
			out = append(out, address{any4, false}, address{any6, true})
			continue
		}
		at, err := netip.ParseAddrPort(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want an IP address and a port, not a name", listenKey, text)
		}
		out = append(out, address{netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), false})
	}
	return out, nil
}

// familyDigit returns "4" or "6", the suffix of the networks of package net.
func familyDigit(at netip.AddrPort) string {
	if at.Addr().Is4() {
		return "4"
	}
	return "6"
}

// portTries is the number of attempts to find a port that is free for TCP and UDP.
const portTries = 16

// bind opens the TCP listener and the UDP sockets of one address, exclusively for this process: the TCP listener does
// not set SO_REUSEPORT, and bind first opens and closes a UDP socket without SO_REUSEPORT.
func bind(at netip.AddrPort, sockets int) (tcp net.Listener, udp []*net.UDPConn, err error) {
	for range portTries {
		if tcp, udp, err = bindPort(at, sockets); err == nil || at.Port() != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return tcp, udp, err
}

// bindPort makes a single attempt to bind a port.
func bindPort(at netip.AddrPort, sockets int) (tcp net.Listener, udp []*net.UDPConn, err error) {
	if tcp, err = segment.Listen("tcp"+familyDigit(at), at.String()); err != nil {
		return nil, nil, explainBindError(err, "tcp", at)
	}
	defer func() {
		if err != nil {
			closeAll(tcp, udp)
		}
	}()
	at = netip.AddrPortFrom(at.Addr(), tcp.Addr().(*net.TCPAddr).AddrPort().Port())
	var config net.ListenConfig
	probe, err := config.ListenPacket(context.Background(), "udp"+familyDigit(at), at.String())
	if err != nil {
		return nil, nil, explainBindError(err, "udp", at)
	}
	if err = probe.Close(); err != nil {
		return nil, nil, err
	}
	config.Control = socketOptions(at, false)
	for range sockets {
		socket, err := config.ListenPacket(context.Background(), "udp"+familyDigit(at), at.String())
		if err != nil {
			return tcp, udp, explainBindError(err, "udp", at)
		}
		udp = append(udp, socket.(*net.UDPConn))
	}
	return tcp, udp, nil
}

func closeAll(tcp net.Listener, udp []*net.UDPConn) {
	if tcp != nil {
		_ = tcp.Close()
	}
	for _, socket := range udp {
		_ = socket.Close()
	}
}

// explainBindError adds the remedy to a bind error.
func explainBindError(err error, network string, at netip.AddrPort) error {
	remedy := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = fmt.Sprintf("another process has %s port %d; `ss -lnp --%s 'sport = :%d'` shows it", network, at.Port(),
			network, at.Port())
		if at.Port() == 53 {
			remedy += ". If it is systemd-resolved, set DNSStubListener=no in /etc/systemd/resolved.conf and restart it, or " +
				"set specific addresses of this machine"
		}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		remedy = "no permission for this port; grant CAP_NET_BIND_SERVICE (systemd unit: " +
			"AmbientCapabilities=CAP_NET_BIND_SERVICE)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		remedy = "this machine does not have this address; `ip address` lists its addresses"
	case errors.Is(err, syscall.EAFNOSUPPORT):
		remedy = "this machine has no IPv6; remove the address"
	default:
		return fmt.Errorf("%s: cannot listen on %s: %w", listenKey, at, err)
	}
	return fmt.Errorf("%s: cannot listen on %s: %s (%w)", listenKey, at, remedy, err)
}
