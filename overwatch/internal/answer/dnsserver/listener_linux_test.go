package dnsserver // inside: it uses address, bind and listener

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func testListener(t *testing.T, at string) *listener {
	t.Helper()
	tcp, udp, err := bind(netip.MustParseAddrPort(at), 1)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(nil, udp)
	l, err := newListener(tcp.(*net.TCPListener))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// handed holds the results of listener.accept.
type handed struct {
	conn   stream
	client netip.Addr
	input  string
	err    error
}

// accept accepts one connection within a time limit.
func accept(t *testing.T, l *listener) handed {
	t.Helper()
	got := make(chan handed, 1)
	go func() {
		conn, client, input, err := l.accept()
		got <- handed{conn, client.Addr(), string(input), err}
	}()
	select {
	case h := <-got:
		if h.err != nil {
			t.Fatal(h.err)
		}
		t.Cleanup(func() { _ = h.conn.Close() })
		return h
	case <-time.After(30 * time.Second):
		t.Fatal("no connection was accepted")
		panic("unreachable")
	}
}

// dial connects from an address and sends octets.
func dial(t *testing.T, l *listener, from, octets string) *net.TCPConn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", l.address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write([]byte(octets)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

func reset(conn *net.TCPConn) error {
	return errors.Join(conn.SetLinger(0), conn.Close())
}

// A client that resets a connection, or closes it without a complete query, is only counted. If the end of the
// connection arrives after it was accepted, the listener returns the connection, and the test tries again.
func TestListener_HandsOutNoConnectionWhoseClientIsGone(t *testing.T) {
	const dead, living = "127.0.0.2", "127.0.0.3"
	query := string(framed(t, 1, "one.gslb.test."))
	for name, c := range map[string]struct {
		octets string
		end    func(*net.TCPConn) error
	}{
		"closed without a query":           {"", (*net.TCPConn).Close},
		"closed after half of a length":    {query[:1], (*net.TCPConn).Close},
		"closed after a length":            {"\xff\xff", (*net.TCPConn).Close},
		"closed after half of a query":     {query[:9], (*net.TCPConn).Close},
		"sends no more after half a query": {query[:9], (*net.TCPConn).CloseWrite},
		"reset without a query":            {"", reset},
		"reset after a query":              {query, reset},
	} {
		t.Run(name, func(t *testing.T) {
			l := testListener(t, "127.0.0.1:0")
			for deadline := time.Now().Add(30 * time.Second); l.closedByClient.Load() == 0; {
				if time.Now().After(deadline) {
					t.Fatal("each was handed out")
				}
				if err := c.end(dial(t, l, dead, c.octets)); err != nil {
					t.Fatal(err)
				}
				dial(t, l, living, query)
				for accept(t, l).client.String() != living {
				}
			}
		})
	}
}

// The listener returns connections of clients that sent a complete query and close their side, that sent a part of a
// query, and that sent nothing yet.
func TestListener_HandsOutWhatWasSent(t *testing.T) {
	query := string(framed(t, 1, "one.gslb.test."))
	for name, octets := range map[string]string{"nothing": "", "one octet": query[:1], "half": query[:9], "all": query,
		"more": query + query[:9]} {
		t.Run(name, func(t *testing.T) {
			l := testListener(t, "127.0.0.1:0")
			client := dial(t, l, "127.0.0.1", octets)
			whole := len(octets) >= len(query)
			if whole {
				if err := client.CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			h := accept(t, l)
			if !whole {
				if _, err := client.Write([]byte(query[len(octets):])); err != nil {
					t.Fatal(err)
				}
				octets = query
			}
			_ = h.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
			rest := make([]byte, len(octets)-len(h.input))
			if _, err := io.ReadFull(h.conn, rest); err != nil || h.input+string(rest) != octets {
				t.Errorf("first %q, then %q, %v; want %q", h.input, rest, err, octets)
			}
			if _, err := h.conn.Write([]byte("answer")); err != nil {
				t.Fatal(err)
			}
			_ = client.SetReadDeadline(time.Now().Add(30 * time.Second))
			if _, err := io.ReadFull(client, make([]byte, len("answer"))); err != nil {
				t.Errorf("the answer: %v", err)
			}
		})
	}
}

// A connection inherits its options from the listener: writes do not wait for acknowledgments of previous writes, and
// the amount of unread data is limited.
func TestListener_ConnectionsHaveItsOptions(t *testing.T) {
	withIPv6(t)
	l := testListener(t, "[::1]:0")
	dial(t, l, "::1", "")
	h := accept(t, l)
	if h.client != netip.IPv6Loopback() {
		t.Errorf("the client is %v", h.client)
	}
	raw, err := h.conn.(*os.File).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct{ level, name, want int }{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1}, {unix.SOL_SOCKET, unix.SO_SNDBUF, 2 * sendBuffer},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0},
	} {
		var got int
		if failed := raw.Control(func(fd uintptr) {
			got,
				err = unix.GetsockoptInt(int(fd), o.level, o.name)
		}); failed != nil || err != nil {
			t.Fatal(failed, err)
		}
		if got != o.want {
			t.Errorf("option %d of level %d is %d, want %d", o.name, o.level, got, o.want)
		}
	}
}

// A closed listener returns no more connections, whether or not a goroutine waits in accept.
func TestListener_CloseEndsAccepting(t *testing.T) {
	for _, before := range []bool{false, true} {
		l := testListener(t, "127.0.0.1:0")
		ended := make(chan error, 1)
		if before {
			l.close()
		}
		go func() {
			_, _, _, err := l.accept()
			ended <- err
		}()
		l.close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed before: %t: %v", before, err)
		}
	}
}

// The kernel counts new connections as soon as the queue of unaccepted connections is full.
func TestListener_CountsWhatFindsNoRoom(t *testing.T) {
	l := testListener(t, "127.0.0.1:0")
	if err := l.control(func(fd int) error { return unix.Listen(fd, 1) }); err != nil {
		t.Fatal(err)
	}
	if n := l.countOverflows(); n != 0 {
		t.Errorf("%d before anybody connects", n)
	}
	to := &unix.SockaddrInet4{Port: int(l.address.Port()), Addr: [4]byte{127, 0, 0, 1}}
	for range 5 {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Connect(fd, to); err != nil && err != unix.EINPROGRESS {
			t.Fatal(err)
		}
	}
	// The kernel changes this state, so the test polls it.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); l.countOverflows() == 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("none is counted, and the queue has room for one")
		}
	}
	l.close()
	if n := l.countOverflows(); n != 0 {
		t.Errorf("%d of a listener that is closed", n)
	}
}
