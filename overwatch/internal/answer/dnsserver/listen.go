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

// listenKey is the configuration key that the addresses come from, for messages to the operator.
const listenKey = "dns.listen_address"

// address is one address to serve on.
type address struct {
	netip.AddrPort
	optional bool // left out where the machine lacks the address family
}

// expand reads the listen addresses; one without an address stands for all of both families.
func expand(listen []string) ([]address, error) {
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

// family returns "4" or "6", as in the networks of package net.
func family(at netip.AddrPort) string {
	if at.Addr().Is4() {
		return "4"
	}
	return "6"
}

// portTries bounds the attempts to find a port that is free for both TCP and UDP.
const portTries = 16

// bind opens the TCP listener and the UDP sockets of one address. Neither shares its port with another process: the TCP
// listener does not set SO_REUSEPORT, and before the UDP sockets one without it is opened and closed.
func bind(at netip.AddrPort, sockets int) (tcp net.Listener, udp []*net.UDPConn, err error) {
	for range portTries {
		if tcp, udp, err = bindPort(at, sockets); err == nil || at.Port() != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return tcp, udp, err
}

func bindPort(at netip.AddrPort, sockets int) (tcp net.Listener, udp []*net.UDPConn, err error) {
	if tcp, err = segment.Listen("tcp"+family(at), at.String()); err != nil {
		return nil, nil, explain(err, "tcp", at)
	}
	defer func() {
		if err != nil {
			closeAll(tcp, udp)
		}
	}()
	at = netip.AddrPortFrom(at.Addr(), tcp.Addr().(*net.TCPAddr).AddrPort().Port())
	var config net.ListenConfig
	probe, err := config.ListenPacket(context.Background(), "udp"+family(at), at.String())
	if err != nil {
		return nil, nil, explain(err, "udp", at)
	}
	if err = probe.Close(); err != nil {
		return nil, nil, err
	}
	config.Control = socketOptions(at, false)
	for range sockets {
		socket, err := config.ListenPacket(context.Background(), "udp"+family(at), at.String())
		if err != nil {
			return tcp, udp, explain(err, "udp", at)
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

// explain adds to an error of binding what an operator can do about it.
func explain(err error, network string, at netip.AddrPort) error {
	remedy := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = fmt.Sprintf("another process has %s port %d; `ss -lnp --%s 'sport = :%d'` shows which", network, at.Port(),
			network, at.Port())
		if at.Port() == 53 {
			remedy += ". If it is systemd-resolved, set DNSStubListener=no in /etc/systemd/resolved.conf and restart it, or " +
				"serve on this machine's own addresses instead of all"
		}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		remedy = "no right to use this port; give the program CAP_NET_BIND_SERVICE (in a systemd unit: " +
			"AmbientCapabilities=CAP_NET_BIND_SERVICE)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		remedy = "this machine does not have this address; `ip address` shows those it has"
	case errors.Is(err, syscall.EAFNOSUPPORT):
		remedy = "this machine has no IPv6; leave the address out"
	default:
		return fmt.Errorf("%s: serving DNS on %s: %w", listenKey, at, err)
	}
	return fmt.Errorf("%s: serving DNS on %s: %s (%w)", listenKey, at, remedy, err)
}
