package check

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Bounds of an answer.
const (
	// MaxHeader bounds the header of an answer, in octets. It is above the size of any regular header, and bounds the
	// memory per backend.
	MaxHeader = 32 << 10
	// MaxBody bounds the body of an answer, in octets: a health page is small, and an endless body must end.
	MaxBody = 1 << 20
	// MaxRedirects is the number of redirects to the same backend that are followed.
	MaxRedirects = 5
)

// bufferSize is the size of the read and write buffers of a connection, which has a single request. The 4 KiB buffers
// of net/http would be most of the memory of a probe.
const bufferSize = 1 << 10

var (
	errRedirects = fmt.Errorf("more than %d redirects", MaxRedirects)
	errBody      = fmt.Errorf("body larger than %d octets", MaxBody)
	errContains  = errors.New("the body does not have the expected text")
)

// statusError is an answer with an unhealthy status.
type statusError int

func (e statusError) Error() string {
	if text := http.StatusText(int(e)); text != "" {
		return fmt.Sprintf("status %d %s", int(e), text)
	}
	return fmt.Sprintf("status %d", int(e))
}

// web makes the checks of types http and https.
type web struct {
	client   http.Client
	request  http.Request
	healthy  statuses
	contains []byte
	matches  *regexp.Regexp // nil: any body
	patterns *Patterns      // limits concurrent matches; nil: no limit
}

// prepareWeb prepares the request. t.connect opens every connection, so neither Host nor a redirect can lead it to
// another address.
func prepareWeb(t target) func(*attempt) error {
	spec, connect := t.spec, t.connect
	transport := &http.Transport{
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: MaxHeader,
		ReadBufferSize:         bufferSize,
		WriteBufferSize:        bufferSize,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			a := attemptOf(ctx)
			conn, err := connect(a)
			if err != nil {
				return nil, err
			}
			a.enter(responding)
			return newGate(conn), nil
		},
	}
	location := requestURL(t)
	if spec.Type == HTTPS {
		config := tlsConfig(spec, location.Hostname())
		transport.DialTLSContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			a := attemptOf(ctx)
			conn, err := connect(a)
			if err != nil {
				return nil, err
			}
			return handshake(a, conn, config)
		}
	}
	d := spec.Detail.Detail()
	w := &web{
		client: http.Client{Transport: transport, CheckRedirect: sameBackend},
		request: http.Request{
			Method: cmp.Or(d.Method, http.MethodGet),
			URL:    location,
			Header: http.Header{"User-Agent": {t.userAgent}, "Accept": {"*/*"}},
		},
		contains: []byte(d.BodyContains), matches: t.patterns.compile(d.BodyMatches), patterns: t.patterns,
	}
	// Validate has already parsed the statuses, the expression and the headers.
	w.healthy, _ = parseStatuses(d.ExpectedStatus)
	for line := range strings.Lines(d.Headers) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		w.request.Header.Set(name, value)
	}
	return w.get
}

// requestURL returns the URL of the request. Its host is the Host header; the connection is to the checked address.
func requestURL(t target) *url.URL {
	// Validate has already parsed the path.
	location, err := url.ParseRequestURI(t.spec.Path)
	if err != nil {
		location = &url.URL{Path: t.spec.Path}
	}
	location.Scheme, location.Host = string(t.spec.Type), t.host()
	return location
}

// tlsConfig returns the settings of certificate verification. host is the Host header without its
// port.
func tlsConfig(spec Spec, host string) *tls.Config {
	var roots *x509.CertPool // nil: the system's
	if pem := spec.Detail.Detail().Authorities; pem != "" {
		roots = x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(pem))
	}
	return &tls.Config{
		ServerName: cmp.Or(spec.ServerName, host),
		RootCAs:    roots,
		// The operator's choice for this backend, off by default. The check then proves only that the port speaks TLS.
		InsecureSkipVerify: spec.InsecureSkipVerify,
	}
}

// get makes the request and reads the whole answer.
func (w *web) get(a *attempt) error {
	res, err := w.client.Do(w.request.WithContext(a.context()))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if !w.healthy.has(res.StatusCode) {
		return statusError(res.StatusCode)
	}
	a.enter(reading)
	var body bytes.Buffer // filled only for a check of the body
	into := io.Discard
	if len(w.contains) > 0 || w.matches != nil {
		into = &body
	}
	n, err := io.Copy(into, io.LimitReader(res.Body, MaxBody+1))
	if err != nil {
		return err
	}
	if n > MaxBody {
		return errBody
	}
	return w.judge(a.ctx, body.Bytes())
}

// judge checks the body.
func (w *web) judge(ctx context.Context, body []byte) error {
	if !bytes.Contains(body, w.contains) {
		return errContains
	}
	if w.matches == nil {
		return nil
	}
	found, err := w.patterns.match(ctx, w.matches, body)
	if err == nil && !found {
		err = errMatches
	}
	return err
}

// sameBackend follows a redirect to the same backend. A redirect to another host or scheme is the final answer.
func sameBackend(next *http.Request, via []*http.Request) error {
	if next.URL.Scheme != via[0].URL.Scheme || next.URL.Host != via[0].URL.Host {
		return http.ErrUseLastResponse
	}
	if len(via) > MaxRedirects {
		return errRedirects
	}
	return nil
}

// handshake makes the TLS handshake on conn. It closes conn on an error.
func handshake(a *attempt, conn net.Conn, config *tls.Config) (net.Conn, error) {
	secured, err := secure(a, conn, config)
	if err != nil {
		return nil, err
	}
	return newGate(secured), nil
}

// secure makes the TLS handshake on conn, without a gate for data before the request. It closes conn on an error.
func secure(a *attempt, conn net.Conn, config *tls.Config) (*tls.Conn, error) {
	a.enter(handshaking)
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(a.ctx); err != nil {
		_ = conn.Close() // the error of the handshake is more useful
		return nil, tlsError{err}
	}
	a.enter(responding)
	return secured, nil
}
