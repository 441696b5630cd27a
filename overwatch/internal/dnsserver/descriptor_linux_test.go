package dnsserver

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Connections that nobody accepts are counted as soon as the kernel has no room for them.
func TestTurnedAway_CountsWhatFindsNoRoom(t *testing.T) {
	listener, udp, err := bind(netip.MustParseAddrPort("127.0.0.1:0"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(listener, udp)
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 1) }); err != nil {
		t.Fatal(err)
	}
	if n := turnedAway(listener); n != 0 {
		t.Errorf("%d before anybody connects", n)
	}
	to := &unix.SockaddrInet4{Port: listener.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
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
	for end := time.Now().Add(30 * time.Second); turnedAway(listener) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("none is counted, and the queue has room for one")
		}
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if n := turnedAway(listener); n != 0 {
		t.Errorf("%d of a listener that is closed", n)
	}
}
