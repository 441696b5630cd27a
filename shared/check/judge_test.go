package check // inside: it uses attempt, clip and fewBeats

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

// failedDial returns the error of package net for a connect that failed with number.
func failedDial(number syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)}
}

func TestProbe_OwnTroubleSaysNothingAboutTheBackend(t *testing.T) {
	here := netip.MustParseAddrPort("127.0.0.1:80")
	// A link-local address without a zone has no route on any machine.
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
	if r := new(attempt).judge(Result{}, err, time.Second); r.Outcome != Unknown || r.HeldUp {
		t.Errorf("%+v", r)
	}
}

// A timeout is a failure if this process ran for at least half of the time.
func TestJudge_ATimeoutThatThisMachineSleptThroughSaysNothing(t *testing.T) {
	for _, c := range []struct {
		beats uint32
		err   error
		want  Result // without the latency, which is 2 s
	}{
		{0, context.DeadlineExceeded, Result{HeldUp: true, Err: "timeout after 2s connecting, held up on this machine"}},
		{fewBeats - 1, os.ErrDeadlineExceeded, Result{HeldUp: true,
			Err: "timeout after 2s connecting, held up on this machine"}},
		{fewBeats, context.DeadlineExceeded, Result{Outcome: Failure, Err: "timeout after 2s connecting"}},
		{0, syscall.ECONNREFUSED, Result{Outcome: Failure, Refused: true, Err: "connection refused"}},
		{0, syscall.EMFILE, Result{Err: "check not possible here: too many open files"}},
	} {
		a := new(attempt)
		a.beats.Store(c.beats)
		c.want.Latency = 2 * time.Second
		if got := a.judge(Result{Latency: c.want.Latency}, c.err, c.want.Latency); got != c.want {
			t.Errorf("%d beats, %v: %+v, want %+v", c.beats, c.err, got, c.want)
		}
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
	if r := new(attempt).judge(Result{}, errors.New("x\ny"), time.Second); r.Outcome != Failure || r.Err != "x?y" {
		t.Errorf("%+v", r)
	}
}
