package send

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"syscall"
)

// errUnreachable is the error of a failed request with a cause that may contain the URL.
var errUnreachable = errors.New("it cannot be reached: the connection failed")

// reachError returns the error of a request without a response. The URL of a target may be secret, so the error omits
// the host, address, port and path: reachError describes only causes that are known to contain none of them.
func reachError(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("it gives no answer in time")
	}
	if text := lookupProblem(err); text != "" {
		return errors.New("it cannot be reached: " + text)
	}
	if text := certificateProblem(err); text != "" {
		return errors.New("it cannot be reached: " + text)
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return errors.New("it cannot be reached: " + number.Error()) // such as connection refused
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return errors.New("it cannot be reached: " + alert.Error())
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return errors.New("it cannot be reached: it does not speak TLS")
	}
	return errUnreachable
}

func lookupProblem(err error) string {
	lookup, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return ""
	case lookup.IsNotFound:
		return "its host name does not exist"
	case lookup.IsTimeout:
		return "the resolver gives no answer for its host name"
	}
	return "its host name cannot be resolved"
}

func certificateProblem(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another host"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is signed by an unknown authority"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "its certificate has expired or is not valid yet"
		}
		return "its certificate is not valid"
	}
	return ""
}
