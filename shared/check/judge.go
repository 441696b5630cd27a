package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxLateness is the longest delay of an attempt after its deadline. A longer delay means that this process or machine
// was overloaded, and the attempt proves nothing about the backend.
const maxLateness = time.Second

// tlsError is an error of the TLS handshake.
type tlsError struct{ error }

func (e tlsError) Unwrap() error { return e.error }

// ownError is the text of a local error.
type ownError string

func (e ownError) Error() string { return string(e) }

// localError reports whether an error is local: no file descriptors, memory, ports, address family,
// permission or certificate authorities. An unreachable network is local only if withRoute has made
// it an ownError.
func localError(err error) (text string, is bool) {
	if known, ok := errors.AsType[ownError](err); ok {
		return known.Error(), true
	}
	if _, ok := errors.AsType[x509.SystemRootsError](err); ok {
		return "the system's certificate authorities could not be loaded", true
	}
	number, _ := errors.AsType[syscall.Errno](err)
	switch number {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS,
		syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.EPERM, syscall.EINVAL,
		syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT, syscall.ENETDOWN, syscall.ENODEV:
		return number.Error(), true
	}
	return "", false
}

// judge returns the Result of a failed attempt with an error. r has the times of the attempt.
func (a *attempt) judge(r Result, err error, timeout time.Duration) Result {
	if r.Latency > timeout+maxLateness {
		r.HeldUp, r.Err = true, "check held up for "+r.Latency.Round(time.Millisecond).String()+" on this machine"
		return r
	}
	if text, is := localError(err); is {
		r.Err = "check not possible here: " + text
		return r
	}
	if !isTimeout(err) {
		r.Outcome, r.Err = Failure, clip(reason(err, a.reached()))
		r.Refused = errors.Is(err, syscall.ECONNREFUSED)
		return r
	}
	r.Err = "timeout after " + timeout.String() + " " + a.reached().String()
	if r.HeldUp = r.Latency >= timeout && a.beats.Load() < fewBeats; r.HeldUp {
		r.Err += ", held up on this machine"
		return r
	}
	r.Outcome = Failure
	return r
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}

// reason describes an error without the address and path, which the caller knows.
func reason(err error, reached phase) string {
	if failed, ok := errors.AsType[tlsError](err); ok {
		return tlsReason(failed.error)
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		if reached == reading {
			return "connection closed in the middle of the body"
		}
		return "connection closed without an answer"
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	text := err.Error()
	for _, prefix := range []string{"net/http: ", "HTTP/1.x transport connection broken: ", "net/http: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

func tlsReason(err error) string {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "no TLS on this port"
	}
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "certificate refused: " + strings.TrimPrefix(refused.Err.Error(), "x509: ")
	}
	if errors.Is(err, io.EOF) {
		return "connection closed in the TLS handshake"
	}
	return "TLS handshake: " + strings.TrimPrefix(err.Error(), "tls: ")
}

// withRoute replaces an error by an ownError if this machine has no route to the target. Routers and targets report the
// same error numbers, so it queries the route from the kernel: it connects a UDP socket, which sends no packet. In
// IPv4, EACCES is a rule of this machine; in IPv6, a firewall can also report it.
func withRoute(err error, target netip.AddrPort) error {
	number, _ := errors.AsType[syscall.Errno](err)
	switch number {
	case syscall.EACCES:
		if target.Addr().Unmap().Is4() {
			return ownError("connecting to the address is not permitted")
		}
	case syscall.ENETUNREACH, syscall.EHOSTUNREACH:
	default:
		return err
	}
	conn, noRoute := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(target))
	if noRoute != nil {
		return ownError("no route to the address")
	}
	_ = conn.Close() // nothing was sent
	return err
}

// clip makes text of a backend safe for a log, a message and a screen: at most MaxReason octets, printable, on one
// line.
func clip(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > MaxReason {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
