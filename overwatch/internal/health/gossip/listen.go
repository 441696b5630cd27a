package gossip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"gslb.internal/shared/segment"
)

// bindTries is the maximum number of attempts with port 0: the kernel chooses a free UDP port, but the TCP port with
// the same number may be in use.
const bindTries = 16

// receiveBuffer is the requested socket buffer in octets: half a second of heartbeats of 10,000 agents that start
// simultaneously.
const receiveBuffer = 4 << 20

// sockets are a node's UDP socket and TCP listener, on the same port.
type sockets struct {
	udp *net.UDPConn
	tcp *net.TCPListener
}

func (s sockets) closeBoth() {
	_ = s.udp.Close() // the sockets have no buffered output
	_ = s.tcp.Close()
}

// addr returns the address of both sockets.
func (s sockets) addr() netip.AddrPort {
	a := s.udp.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// bindSockets binds both sockets. An IPv4 address, including 0.0.0.0, binds IPv4 only. "[::]" and an empty host bind
// both families.
func bindSockets(bind string) (sockets, error) {
	suffix, port, err := parseBind(bind)
	if err != nil {
		return sockets{}, err
	}
	tries := 1
	if port == 0 {
		tries = bindTries
	}
	for range tries {
		var s sockets
		if s, err = bindBoth(suffix, bind); err == nil {
			_ = s.udp.SetReadBuffer(receiveBuffer) // the kernel may grant less; lost messages are repeated
			return s, nil
		}
	}
	return sockets{}, withRemedy(err, bind)
}

// parseBind checks the address and returns the suffix that restricts a network name to its family.
func parseBind(bind string) (suffix string, port int, err error) {
	host, digits, err := net.SplitHostPort(bind)
	if err == nil {
		port, err = strconv.Atoi(digits)
	}
	if err == nil && (port < 0 || port > 65535) {
		err = errors.New("the port is from 0 to 65535")
	}
	var addr netip.Addr
	if err == nil && host != "" {
		addr, err = netip.ParseAddr(host)
	}
	if err != nil {
		return "", 0, fmt.Errorf("overwatch.gossip.bind_address %q: %w; want an address of this host and a port, as in %q",
			bind, err, DefaultBind)
	}
	if addr.Is4() {
		suffix = "4"
	}
	return suffix, port, nil
}

func bindBoth(suffix, bind string) (sockets, error) {
	var lc net.ListenConfig
	pc, err := lc.ListenPacket(context.Background(), "udp"+suffix, bind)
	if err != nil {
		return sockets{}, err
	}
	udp := pc.(*net.UDPConn)
	host, _, _ := net.SplitHostPort(bind)
	port := udp.LocalAddr().(*net.UDPAddr).Port
	ln, err := segment.Listen("tcp"+suffix, net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		_ = udp.Close()
		return sockets{}, err
	}
	return sockets{udp: udp, tcp: ln.(*net.TCPListener)}, nil
}

// withRemedy adds remedies for the common causes.
func withRemedy(err error, bind string) error {
	remedy := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "; another process has the port: stop it (`ss -lntup` shows which), or choose another"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		remedy = "; this user may not bind it: choose a port above 1023, or grant CAP_NET_BIND_SERVICE"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		remedy = "; no interface of this host has that address: use one that has, or 0.0.0.0 or [::] for all"
	case errors.Is(err, syscall.EAFNOSUPPORT):
		remedy = "; this host does not speak that address family: use an IPv4 address"
	}
	return fmt.Errorf("overwatch.gossip.bind_address %q: %w%s", bind, err, remedy)
}
