package delegation // inside: it uses noWay

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

// failed returns the error of package net for a failed system call with the error number.
func failed(op, call string, number syscall.Errno) error {
	return &net.OpError{Op: op, Net: "udp", Err: os.NewSyscallError(call, number)}
}

func TestNoWay_OnlyAFamilyThatTheMachineLacks(t *testing.T) {
	const four, six = "192.0.2.1:53", "[2001:db8::1]:53"
	local := []string{"127.0.0.1/8", "::1/128", "fe80::1/64"}
	for _, c := range []struct {
		number syscall.Errno
		server string
		own    []string // beside local
		want   bool
	}{
		{syscall.ENETUNREACH, six, nil, true},
		{syscall.EADDRNOTAVAIL, six, []string{"198.51.100.7/24"}, true},
		{syscall.EAFNOSUPPORT, six, []string{"198.51.100.7/24"}, true},
		{syscall.EADDRNOTAVAIL, four, []string{"2001:db8::7/64"}, true},
		{syscall.EADDRNOTAVAIL, "[::ffff:192.0.2.1]:53", []string{"2001:db8::7/64"}, true},
		{syscall.EADDRNOTAVAIL, six, []string{"198.51.100.7/24", "2001:db8::7/64"}, false},
		{syscall.EADDRNOTAVAIL, four, []string{"198.51.100.7/24"}, false}, // no port is free
		{syscall.EADDRNOTAVAIL, "ns.example:53", nil, false},
		{syscall.ECONNREFUSED, six, nil, false},
		{syscall.EHOSTUNREACH, six, nil, false},
		{syscall.EPERM, six, nil, false},
	} {
		own := func() (all []net.Addr, err error) {
			for _, text := range append(local, c.own...) {
				address, prefix, err := net.ParseCIDR(text)
				if err != nil {
					return nil, err
				}
				all = append(all, &net.IPNet{IP: address, Mask: prefix.Mask})
			}
			return all, nil
		}
		err := fmt.Errorf("asking: %w", failed("dial", "connect", c.number))
		if got := noWay(err, c.server, own); got != c.want {
			t.Errorf("%s for %s with %v: %t, want %t", c.number, c.server, c.own, got, c.want)
		}
	}
	unknown := func() ([]net.Addr, error) { return nil, errors.New("not told") }
	if noWay(failed("dial", "connect", syscall.EADDRNOTAVAIL), six, unknown) {
		t.Error("a family counts as lacking although the addresses of the machine are not known")
	}
	if noWay(nil, six, unknown) {
		t.Error("an answer counts as none")
	}
}

func TestNoServer_OnlyWhereConnectionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{failed("dial", "connect", syscall.ECONNREFUSED), true},
		{failed("dial", "connect", syscall.EHOSTUNREACH), true},
		{failed("dial", "connect", syscall.ENETUNREACH), true},
		{failed("dial", "connect", syscall.ETIMEDOUT), false},
		{failed("dial", "connect", syscall.EADDRNOTAVAIL), false},
		{failed("read", "read", syscall.ECONNRESET), false},
		{failed("read", "read", syscall.EHOSTUNREACH), false},
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}, false},
		{&net.DNSError{Err: "no such host", Name: "ns.example", IsNotFound: true}, false},
		{io.EOF, false},
		{errors.New("does not sign gslb.test. yet"), false},
		{nil, false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("does not answer: %w", err)
		}
		if got := NoServer(err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}
