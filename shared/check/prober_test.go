package check_test

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

// TestMain makes the certificate of httptest the only authority of the system, so that https checks verify certificates
// as in production.
func TestMain(m *testing.M) {
	os.Exit(withAuthority(m.Run))
}

func withAuthority(run func() int) int {
	dir, err := os.MkdirTemp("", "check")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	file := filepath.Join(dir, "roots.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", file)
	os.Setenv("SSL_CERT_DIR", filepath.Join(dir, "none"))
	return run()
}

func addrOf(l net.Listener) netip.AddrPort { return netip.MustParseAddrPort(l.Addr().String()) }

// probe makes an attempt with a Spec of type kind after adjust.
func probe(t *testing.T, kind check.Type, backend netip.AddrPort, adjust func(*check.Spec)) check.Result {
	t.Helper()
	spec := check.Spec{Type: kind, Path: "/health", Interval: 10 * time.Second, Timeout: 10 * time.Second,
		FailureThreshold: 3, SuccessThreshold: 2}
	if adjust != nil {
		adjust(&spec)
	}
	prober, err := check.NewProber(spec, backend, "gslb/test")
	if err != nil {
		t.Fatal(err)
	}
	return prober.Probe(t.Context())
}

func wantSuccess(t *testing.T, r check.Result) {
	t.Helper()
	if r.Outcome != check.Success || r.Err != "" || r.Latency <= 0 || time.Since(r.At) > time.Minute {
		t.Errorf("%+v, want success with its latency and time", r)
	}
}

func wantFailure(t *testing.T, r check.Result, reason string) {
	t.Helper()
	if r.Outcome != check.Failure || !strings.Contains(r.Err, reason) {
		t.Errorf("%+v, want a failure that says %q", r, reason)
	}
}

// page is a backend that stores the last request.
type page struct {
	status int
	last   *http.Request
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.last = r
	w.WriteHeader(p.status)
}

func TestProbe_RequestIsWhatTheSpecSays(t *testing.T) {
	p := &page{status: http.StatusOK}
	server := httptest.NewServer(p)
	defer server.Close()
	wantSuccess(t, probe(t, check.HTTP, addrOf(server.Listener), func(s *check.Spec) {
		s.Path, s.Host = "/a%2Fb/health?deep=1", "www.example.com"
	}))
	r := p.last
	if r.Method != "GET" || r.RequestURI != "/a%2Fb/health?deep=1" || r.Host != "www.example.com" ||
		r.UserAgent() != "gslb/test" || !r.Close || r.ContentLength != 0 {
		t.Errorf("the backend was asked %s %s, host %s, agent %s, close %v", r.Method, r.RequestURI, r.Host, r.UserAgent(),
			r.Close)
	}
	wantSuccess(t, probe(t, check.HTTP, addrOf(server.Listener), nil))
	if p.last.Host != server.Listener.Addr().String() {
		t.Errorf("host %s, want the address without an override", p.last.Host)
	}
}

func TestProbe_StatusDecides(t *testing.T) {
	for status, want := range map[int]check.Outcome{
		200: check.Success, 204: check.Success, 299: check.Success, 304: check.Success, 399: check.Success,
		400: check.Failure, 404: check.Failure, 429: check.Failure, 500: check.Failure, 503: check.Failure,
	} {
		server := httptest.NewServer(&page{status: status})
		if r := probe(t, check.HTTP, addrOf(server.Listener), nil); r.Outcome != want {
			t.Errorf("status %d: %s, want %s", status, r.Outcome, want)
		}
		server.Close()
	}
}

func TestProbe_RedirectIsFollowedOnTheSameBackendOnly(t *testing.T) {
	elsewhere := &page{status: http.StatusInternalServerError}
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	mux := http.NewServeMux()
	mux.Handle("/near", http.RedirectHandler("/good", http.StatusFound))
	mux.Handle("/named", http.RedirectHandler("http://www.example.com/good", http.StatusFound))
	mux.Handle("/bad", http.RedirectHandler("/missing", http.StatusFound))
	mux.Handle("/far", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/good", &page{status: http.StatusOK})
	server := httptest.NewServer(mux)
	defer server.Close()
	ask := func(path string) check.Result {
		return probe(t, check.HTTP, addrOf(server.Listener), func(s *check.Spec) { s.Path, s.Host = path, "www.example.com" })
	}
	wantSuccess(t, ask("/near"))
	wantSuccess(t, ask("/named"))
	wantFailure(t, ask("/bad"), "status 404")
	wantSuccess(t, ask("/far"))
	if elsewhere.last != nil {
		t.Error("a redirect led the check to another address")
	}
}

func TestProbe_CertificateIsVerifiedUnlessSwitchedOff(t *testing.T) {
	server := httptest.NewUnstartedServer(&page{status: http.StatusOK})
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the check rejects certificates, which the server logs
	server.StartTLS()
	defer server.Close()
	backend := addrOf(server.Listener)
	// The certificate names example.com and 127.0.0.1.
	wantSuccess(t, probe(t, check.HTTPS, backend, nil))
	wantSuccess(t, probe(t, check.HTTPS, backend, func(s *check.Spec) { s.Host = "example.com:8443" }))
	wantSuccess(t, probe(t, check.HTTPS, backend,
		func(s *check.Spec) { s.Host, s.ServerName = "other.test", "example.com" }))
	wantFailure(t, probe(t, check.HTTPS, backend, func(s *check.Spec) { s.Host = "other.test" }), "certificate refused")
	wantFailure(t, probe(t, check.HTTPS, backend, func(s *check.Spec) { s.ServerName = "other.test" }), "not other.test")
	wantSuccess(t, probe(t, check.HTTPS, backend,
		func(s *check.Spec) { s.Host, s.InsecureSkipVerify = "other.test", true }))
}

func TestProbe_TCPNeedsAConnectionOnly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	backend := addrOf(listener)
	wantSuccess(t, probe(t, check.TCP, backend, nil))
	listener.Close()
	for _, kind := range []check.Type{check.TCP, check.HTTP, check.HTTPS} {
		wantFailure(t, probe(t, kind, backend, nil), "connection refused")
	}
}

func TestProbe_IPv6(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on this machine: ", err)
	}
	p := &page{status: http.StatusOK}
	server := httptest.NewUnstartedServer(p)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	wantSuccess(t, probe(t, check.HTTP, addrOf(listener), nil))
	if p.last.Host != listener.Addr().String() {
		t.Errorf("host %s, want %s", p.last.Host, listener.Addr())
	}
	wantSuccess(t, probe(t, check.TCP, addrOf(listener), nil))
}

func TestProbe_AddressOfTheSpecIsProbedInsteadOfTheBackends(t *testing.T) {
	server := httptest.NewServer(&page{status: http.StatusOK})
	defer server.Close()
	here := addrOf(server.Listener)
	advertised := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), here.Port())
	wantSuccess(t, probe(t, check.HTTP, advertised, func(s *check.Spec) { s.Address = here.Addr() }))
}
