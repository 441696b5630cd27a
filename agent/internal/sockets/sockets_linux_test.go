package sockets // inside: it fuzzes parse

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func listenAt(t *testing.T, network, address string, control func(fd uintptr)) net.Listener {
	t.Helper()
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		if control == nil {
			return nil
		}
		return raw.Control(control)
	}}
	l, err := c.Listen(context.Background(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // the test may have closed it
	return l
}

func portOf(l net.Listener) uint16 { return l.Addr().(*net.TCPAddr).AddrPort().Port() }

// The list contains a listening socket until it is closed: at one address and at all addresses, for IPv4 and IPv6.
func TestLister_ListsASocketUntilItIsClosed(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct{ network, listen, connect, other string }{
		{"tcp4", "127.0.0.1:0", "127.0.0.1", "127.0.0.2"},
		{"tcp4", "0.0.0.0:0", "127.0.0.9", ""},
		{"tcp6", "[::1]:0", "::1", "127.0.0.1"},
		{"tcp", "[::]:0", "127.0.0.1", ""},
	} {
		s := listenAt(t, c.network, c.listen, nil)
		at := netip.AddrPortFrom(netip.MustParseAddr(c.connect), portOf(s))
		has := func(at netip.AddrPort) bool {
			t.Helper()
			all, err := l.List()
			if err != nil {
				t.Fatal(err)
			}
			return all.Has(at)
		}
		if !has(at) {
			t.Errorf("%s: %s is not listed", c.listen, at)
		}
		if c.other != "" && has(netip.AddrPortFrom(netip.MustParseAddr(c.other), at.Port())) {
			t.Errorf("%s: a connection to %s would reach it", c.listen, c.other)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if has(at) {
			t.Errorf("%s: %s is listed after its end", c.listen, at)
		}
	}
}

// Of two sockets at one port, the second is listed after the end of the first.
func TestLister_ListsAPortUntilItsLastSocketIsClosed(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shared := func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }
	first := listenAt(t, "tcp4", "127.0.0.1:0", shared)
	second := listenAt(t, "tcp4", first.Addr().String(), shared)
	at := first.Addr().(*net.TCPAddr).AddrPort()
	for _, c := range []struct {
		closed net.Listener
		want   bool
	}{{first, true}, {second, false}} {
		if err := c.closed.Close(); err != nil {
			t.Fatal(err)
		}
		all, err := l.List()
		if err != nil {
			t.Fatal(err)
		}
		if all.Has(at) != c.want {
			t.Errorf("listed: %t, want %t", all.Has(at), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(request(unix.AF_INET, 7), uint8(unix.AF_INET))
	f.Add([]byte{}, uint8(unix.AF_INET6))
	answer := make([]byte, unix.NLMSG_HDRLEN+answerLen)
	copy(answer, request(unix.AF_INET6, 7)[:unix.NLMSG_HDRLEN])
	f.Add(answer, uint8(unix.AF_INET6))
	f.Fuzz(func(t *testing.T, datagram []byte, family uint8) {
		found := Set{}
		if _, err := parse(datagram, 7, family, found); err != nil {
			return
		}
		if len(found) > len(datagram)/answerLen {
			t.Errorf("%d sockets in %d octets", len(found), len(datagram))
		}
	})
}

func BenchmarkList(b *testing.B) {
	l, err := Open()
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if _, err := l.List(); err != nil {
			b.Fatal(err)
		}
	}
}
