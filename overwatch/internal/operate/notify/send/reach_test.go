package send // inside: it uses reachError

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

const (
	secretHost    = "secret-tenant.example"
	secretAddress = "203.0.113.77"
)

// The error of an unreachable target contains no part of its URL.
func TestReachError_HasNoPartOfTheURL(t *testing.T) {
	dial := func(inner error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: inner,
			Addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(secretAddress + ":4443"))}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{dial(&net.DNSError{Err: "no such host", Name: secretHost, IsNotFound: true}), "its host name does not exist"},
		{dial(&net.DNSError{Err: "i/o timeout", Name: secretHost, IsTimeout: true}), "the resolver gives no answer"},
		{dial(&net.DNSError{Err: "server misbehaving", Name: secretHost, Server: secretAddress}), "cannot be resolved"},
		{dial(syscall.ECONNREFUSED), "connection refused"},
		{dial(syscall.EHOSTUNREACH), "no route to host"},
		{dial(errors.New("unknown port " + secretHost + "/4443")), "the connection failed"},
		{x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"other"}}, Host: secretHost}, "another host"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "unknown authority"},
		{x509.CertificateInvalidError{Reason: x509.Expired, Detail: secretHost}, "has expired"},
		{x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign, Detail: secretHost}, "is not valid"},
		{tls.RecordHeaderError{Msg: secretHost}, "does not speak TLS"},
		{fmt.Errorf("remote: %w", tls.AlertError(40)), "handshake failure"},
	} {
		text := reachError(&url.Error{Op: "Post", URL: "https://" + secretHost + ":4443/token", Err: c.err}).Error()
		if !strings.Contains(text, c.want) {
			t.Errorf("%v: %q does not say %q", c.err, text, c.want)
		}
		for _, secret := range []string{"secret", "203.0.113", "4443", "token"} {
			if strings.Contains(text, secret) {
				t.Errorf("%v: %q has %q of the URL", c.err, text, secret)
			}
		}
	}
}

// The errors of targets of each type omit the URL, here for a server with an untrusted certificate.
func TestSenders_HideTheirURL(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	for _, kind := range []string{config.TargetWebhook, config.TargetSlack, config.TargetPagerDuty,
		config.TargetAlertmanager} {
		sender, err := New(config.NotificationTarget{Type: kind, URL: settings.Secret(server.URL + "/token")})
		if err != nil {
			t.Fatal(err)
		}
		err = sender.Send(t.Context(), Message{})
		if err == nil || !strings.Contains(err.Error(), "unknown authority") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
