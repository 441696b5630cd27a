package dnsserver // inside: it uses growBuffer and senderAddress

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGrow_NeverMakesABufferSmaller(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	room := func() int {
		size, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	had := room()
	if growBuffer(fd, unix.SO_RCVBUF, 4096); room() != had {
		t.Errorf("a buffer of %d has become one of %d", had, room())
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096); err != nil {
		t.Fatal(err)
	}
	small := room()
	if growBuffer(fd, unix.SO_RCVBUF, 64<<10); room() <= small {
		t.Errorf("a buffer of %d did not grow", small)
	}
}

// A socket for both families returns IPv4 addresses as IPv4-mapped IPv6 addresses. They belong to the IPv4 networks of
// the clients.
func TestSender_IsAnIPv4AddressInEitherForm(t *testing.T) {
	for _, client := range []string{"192.0.2.1", "2001:db8::1"} {
		address := netip.MustParseAddr(client)
		var from [unix.SizeofSockaddrInet6]byte
		binary.NativeEndian.PutUint16(from[:], unix.AF_INET6)
		inside := address.As16()
		copy(from[8:], inside[:])
		if got := senderAddress(&from); got != address {
			t.Errorf("%s came from %s", client, got)
		}
	}
}
