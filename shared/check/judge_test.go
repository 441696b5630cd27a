package check

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// failedDial is how package net reports that connecting ended with number.
func failedDial(number syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)}
}

func TestProbe_OwnTroubleSaysNothingAboutTheBackend(t *testing.T) {
	here := netip.MustParseAddrPort("127.0.0.1:80")
	// A link-local address without its zone has no route on any machine.
	nowhere := netip.MustParseAddrPort("[fe80::1]:80")
	here6 := netip.MustParseAddrPort("[::1]:80")
	for _, c := range []struct {
		number syscall.Errno
		target netip.AddrPort
		want   Outcome
	}{
		{syscall.EMFILE, here, Unknown},
		{syscall.ENFILE, here, Unknown},
		{syscall.ENOMEM, here, Unknown},
		{syscall.ENOBUFS, here, Unknown},
		{syscall.EADDRNOTAVAIL, here, Unknown},
		{syscall.EADDRINUSE, here, Unknown},
		{syscall.EAFNOSUPPORT, here, Unknown},
		{syscall.ENETDOWN, here, Unknown},
		{syscall.EPERM, here, Unknown},
		{syscall.EACCES, here, Unknown},
		{syscall.EACCES, here6, Failure},
		{syscall.ENETUNREACH, nowhere, Unknown},
		{syscall.EHOSTUNREACH, nowhere, Unknown},
		{syscall.ENETUNREACH, here, Failure},
		{syscall.EHOSTUNREACH, here, Failure},
		{syscall.ECONNREFUSED, here, Failure},
		{syscall.ECONNRESET, here, Failure},
		{syscall.ETIMEDOUT, here, Failure},
	} {
		for _, kind := range []Type{TCP, HTTP, HTTPS} {
			t.Run(fmt.Sprintf("%s %s %s", kind, c.number.Error(), c.target), func(t *testing.T) {
				if c.target == here6 && !hasIPv6() {
					t.Skip("no IPv6 on this machine")
				}
				spec := valid()
				spec.Type = kind
				prober, err := NewProber(spec, c.target, "test")
				if err != nil {
					t.Fatal(err)
				}
				prober.dial = func(context.Context, string, string) (net.Conn, error) {
					return nil, failedDial(c.number)
				}
				if r := prober.Probe(t.Context()); r.Outcome != c.want || r.Err == "" {
					t.Errorf("%s (%s), want %s with a reason", r.Outcome, r.Err, c.want)
				}
			})
		}
	}
}

func hasIPv6() bool {
	conn, err := net.Dial("udp", "[::1]:80")
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func TestJudge_MissingAuthoritiesAreOwnTrouble(t *testing.T) {
	err := tlsError{x509.SystemRootsError{Err: syscall.EMFILE}}
	if outcome, text := judge(err, handshaking, time.Second, 0); outcome != Unknown {
		t.Errorf("%s (%s)", outcome, text)
	}
}

func TestClip_TextFromOutsideFitsALine(t *testing.T) {
	for _, text := range []string{
		"", "plain", "a\x00\x1b[2J\r\nb", "\xff\xfe", strings.Repeat("é", MaxReason), strings.Repeat("\xff", 1<<20),
	} {
		got := clip(text)
		if len(got) > MaxReason || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r\n") {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := clip(strings.Repeat("é", MaxReason)); len(got) != MaxReason {
		t.Errorf("%d octets of %d were used", len(got), MaxReason)
	}
	if judged, text := judge(errors.New("x\ny"), reading, time.Second, 0); judged != Failure || text != "x?y" {
		t.Errorf("%s %q", judged, text)
	}
}
