package segment_test

import (
	"net"
	"syscall"
	"testing"

	"gslb.internal/shared/segment"
)

// Both sides of a connection respect the bound, even on loopback, which would carry 64 KiB.
func TestListen_BoundsTheSegmentsOfBothSides(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		address := map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"}[network]
		l, err := segment.Listen(network, address)
		if err != nil {
			if network == "tcp6" {
				t.Logf("without IPv6: %v", err)
				continue
			}
			t.Fatal(err)
		}
		defer l.Close()
		client, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		for side, c := range map[string]net.Conn{"server": server, "client": client} {
			raw, err := c.(*net.TCPConn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			if err := raw.Control(func(fd uintptr) {
				// TCP_MAXSEG can be below Max by the octets of options, such as a time stamp
				size, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG)
				if err != nil || size > segment.Max ||
					size < segment.Max-12 {
					t.Errorf("%s, the %s's segments have up to %d octets, want %d: %v", network, side, size, segment.Max, err)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
