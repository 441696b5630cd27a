package check // inside: it uses calmAfter, grpcPath and grpcVerdict

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// probe makes a check of a server on this host.
func probe(t *testing.T, kind Type, d Detail, at string) Result {
	t.Helper()
	spec := valid()
	spec.Type, spec.Detail = kind, d.Details()
	if kind != HTTP {
		spec.Path = ""
	}
	return probeBy(t, spec, at)
}

func probeBy(t *testing.T, spec Spec, at string) Result {
	t.Helper()
	p, err := NewProber(spec, netip.MustParseAddrPort(at), "test")
	if err != nil {
		t.Fatal(err)
	}
	return p.Probe(t.Context())
}

// expect fails unless a result is a success, or has the given part of a reason.
func expect(t *testing.T, name string, r Result, reason string) {
	t.Helper()
	if (reason == "") != (r.Outcome == Success) || !strings.Contains(r.Err, reason) {
		t.Errorf("%s: %s, %q", name, r.Outcome, r.Err)
	}
}

func TestHTTP_DetailsDecide(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if r.Header.Get("X-Probe") == "a: b" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(w, "all 7 parts are ready\n")
	}))
	defer server.Close()
	for _, c := range []struct {
		name   string
		detail Detail
		want   string // empty: success
	}{
		{"nothing", Detail{}, ""},
		{"status as expected", Detail{ExpectedStatus: "200"}, ""},
		{"another status", Detail{ExpectedStatus: "201, 204-206"}, "status 200"},
		{"method", Detail{Method: "OPTIONS", ExpectedStatus: "204"}, ""},
		{"head", Detail{Method: "HEAD"}, ""},
		{"headers", Detail{Headers: "User-Agent: x\nX-Probe: a: b", ExpectedStatus: "418"}, ""},
		{"a status that is bad by default", Detail{Headers: "X-Probe: a: b"}, "status 418"},
		{"text in the body", Detail{BodyContains: "ready\n"}, ""},
		{"text that is not", Detail{BodyContains: "Ready"}, "does not have the expected text"},
		{"pattern", Detail{BodyMatches: `^all \d+ parts`}, ""},
		{"pattern that does not match", Detail{BodyMatches: `^all parts`}, "does not match"},
	} {
		expect(t, c.name, probe(t, HTTP, c.detail, server.Listener.Addr().String()), c.want)
	}
}

func TestHTTPS_TrustsTheAuthoritiesThatItIsGiven(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	spec := valid()
	spec.Type, spec.Path = HTTPS, "/"
	for _, c := range []struct{ name, authorities, want string }{
		{"its own", string(own), ""},
		{"another's", anotherAuthority(t), "certificate refused"},
	} {
		spec.Detail = Detail{Authorities: c.authorities}.Details()
		expect(t, c.name, probeBy(t, spec, server.Listener.Addr().String()), c.want)
	}
}

// anotherAuthority returns an authority without issued certificates.
func anotherAuthority(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTCP_SendAndExpect(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
				_, _ = io.WriteString(conn, "hel")
				_, _ = io.WriteString(conn, "lo\r\n")
				asked := make([]byte, 6)
				if _, err := io.ReadFull(conn, asked); err == nil && string(asked) == "PING\r\n" {
					_, _ = io.WriteString(conn, "+PONG\r\n")
				}
			}()
		}
	}()
	for _, c := range []struct {
		name   string
		detail Detail
		want   string
	}{
		{"a greeting", Detail{Expect: "hello"}, ""},
		{"an answer", Detail{Send: "PING\r\n", Expect: "+PONG"}, ""},
		{"only sent", Detail{Send: "PING\r\n"}, ""},
		{"another answer", Detail{Send: "PING\r\n", Expect: "+OK"}, "the expected text is not in the answer"},
	} {
		expect(t, c.name, probe(t, TCP, c.detail, listener.Addr().String()), c.want)
	}
}

// healthServer answers grpc.health.v1 for the services of the map, as grpc-go does.
func healthServer(t *testing.T, status map[string]byte) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		name := ""
		if len(body) > 7 {
			name = string(body[7:])
		}
		w.Header().Set("Content-Type", "application/grpc")
		known, ok := status[name]
		switch {
		case r.URL.Path != grpcPath || r.Method != http.MethodPost || r.ProtoMajor != 2 || r.Header.Get("Te") != "trailers":
			w.Header().Set("Grpc-Status", "12")
		case !ok:
			w.Header().Set("Grpc-Status", "5")
		default:
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, 2), 8, known))
			w.Header().Set("Grpc-Status", "0")
		}
	}))
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP1(true)
	server.Config.Protocols = protocols
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestGRPC_AsksTheStandardHealthService(t *testing.T) {
	at := healthServer(t, map[string]byte{"": 1, "shop.v1.Orders": 2, "odd": 9})
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	for _, c := range []struct{ name, service, at, want string }{
		{"the server as a whole", "", at, ""},
		{"a service that does not serve", "shop.v1.Orders", at, "grpc health: NOT_SERVING"},
		{"a service it does not know", "nobody", at, "does not know the service"},
		{"a status nobody knows", "odd", at, "grpc health: status 9"},
		{"a web server", "", plain.Listener.Addr().String(), "grpc"},
	} {
		r := probe(t, GRPC, Detail{GRPCService: c.service}, c.at)
		if (c.want == "") != (r.Outcome == Success) || c.name != "a web server" && !strings.Contains(r.Err, c.want) {
			t.Errorf("%s: %s, %q", c.name, r.Outcome, r.Err)
		}
	}
}

// grpc over TLS requires HTTP/2 and a certificate for the configured name.
func TestGRPCS_VerifiesTheCertificateAndNeedsHTTP2(t *testing.T) {
	serve := func(h2 bool) (at, authorities string) {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = w.Write([]byte{0, 0, 0, 0, 2, 8, 1})
			w.Header().Set("Grpc-Status", "0")
		}))
		server.EnableHTTP2 = h2
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.Listener.Addr().String(), string(
			pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	}
	at, authorities := serve(true)
	old, oldAuthorities := serve(false)
	for _, c := range []struct {
		name, at, authorities, serverName string
		skip                              bool
		want                              string // part of the error; empty: healthy
	}{
		{"trusted", at, authorities, "example.com", false, ""},
		{"by its address", at, authorities, "", false, ""},
		{"another name", at, authorities, "example.org", false, "example.org"},
		{"the system's authorities", at, "", "example.com", false, ""},
		{"an unknown authority", at, anotherAuthority(t), "example.com", false, "unknown authority"},
		{"any certificate", at, "", "example.org", true, ""},
		{"no HTTP/2", old, oldAuthorities, "example.com", false, ""},
	} {
		spec := valid()
		spec.Type, spec.Path, spec.ServerName, spec.InsecureSkipVerify = GRPCS, "", c.serverName, c.skip
		spec.Detail = Detail{Authorities: c.authorities}.Details()
		r := probeBy(t, spec, c.at)
		healthy := c.want == "" && c.name != "no HTTP/2"
		if healthy != (r.Outcome == Success) || !strings.Contains(r.Err, c.want) || !healthy && r.Outcome != Failure {
			t.Errorf("%s: %s, %q", c.name, r.Outcome, r.Err)
		}
	}
	if r := probe(t, GRPCS, Detail{}, healthServer(t, map[string]byte{"": 1})); r.Outcome != Failure {
		t.Errorf("a server without TLS: %s, %q", r.Outcome, r.Err)
	}
}

func FuzzGRPCVerdict(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 8, 1})
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 4, 18, 1, 0, 8})
	f.Fuzz(func(t *testing.T, answer []byte) {
		if grpcVerdict(answer) == nil && len(answer) < 7 {
			t.Errorf("%x means serving", answer)
		}
	})
}

func TestTracker_LeakyCountsFailuresTogether(t *testing.T) {
	spec := valid()
	spec.Detail = Detail{Counting: Leaky}.Details()
	for _, c := range []struct {
		outcomes string // s, f
		want     State
	}{
		{"sfsfsf", StateUnhealthy},
		{"sfsf" + strings.Repeat("s", calmAfter) + "ff", StateHealthy},
		{"sfsf" + strings.Repeat("s", calmAfter-1) + "f", StateUnhealthy},
		{"sfffs", StateUnhealthy},
		{"sfffssf", StateHealthy}, // healthy, and the count of failures restarts
	} {
		leaky, row := spec.Tracker(), valid().Tracker()
		for _, o := range c.outcomes {
			outcome := map[rune]Outcome{'s': Success, 'f': Failure}[o]
			leaky.Observe(outcome)
			row.Observe(outcome)
		}
		if leaky.State() != c.want {
			t.Errorf("%s: %s, want %s", c.outcomes, leaky.State(), c.want)
		}
		if c.outcomes == "sfsfsf" && row.State() != StateHealthy {
			t.Error("consecutive counting is leaky too")
		}
	}
}

func TestDetails_AreComparableAndSurviveJSON(t *testing.T) {
	one, two := valid(), valid()
	if text, _ := json.Marshal(one); strings.Contains(string(text), "Detail") {
		t.Errorf("no detail is written out: %s", text)
	}
	one.Detail = Detail{Send: "x", Counting: Leaky}.Details()
	if one == two {
		t.Error("another detail makes no other Spec")
	}
	text, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &two); err != nil || one != two {
		t.Errorf("%s becomes %+v, %v", text, two, err)
	}
	if one.Detail.String() != `{"Send":"x","Counting":"leaky"}` {
		t.Errorf("shown as %s", one.Detail)
	}
	if err := json.Unmarshal([]byte(`{"Detail": 7}`), &two); err == nil {
		t.Error("a number is a detail")
	}
}

func TestDetails_AreShownWithoutWhatMayBeAPassword(t *testing.T) {
	whole := Detail{Method: "HEAD", Headers: "A: s3cret\nB: Bearer: s3cret", Send: "s3cret", Expect: "y"}
	want := Detail{Method: "HEAD", Headers: "A: [redacted]\nB: [redacted]", Send: "[redacted]", Expect: "y"}
	if got := whole.Details().Shown().Detail(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (Details{}).Shown(); got != (Details{}) {
		t.Errorf("nothing is shown as %s", got)
	}
	spec := valid()
	spec.Detail = Detail{Send: "s3cret"}.Details()
	if problems := spec.Validate(); len(problems) != 1 || strings.Contains(problems[0].Error(), "s3cret") {
		t.Errorf("http with a text to send: %v", problems)
	}
}

func TestValidate_NamesTheFieldOfADetail(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   Type
		detail Detail
		field  string // empty: no problem
	}{
		{"all of http", HTTP, Detail{Method: "GET", Headers: "A: b", ExpectedStatus: "200-299,304", BodyContains: "x",
			BodyMatches: "y|z"}, ""},
		{"all of tcp", TCP, Detail{Send: "a\x00b", Expect: "c", Counting: Consecutive}, ""},
		{"grpc", GRPC, Detail{GRPCService: "a.B"}, ""},
		{"grpcs", GRPCS, Detail{GRPCService: "a.B"}, ""},
		{"method that changes something", HTTP, Detail{Method: "DELETE"}, "method"},
		{"method of tcp", TCP, Detail{Method: "GET"}, "method"},
		{"head has no body", HTTP, Detail{Method: "HEAD", BodyContains: "x"}, "method"},
		{"header that frames", HTTP, Detail{Headers: "transfer-encoding: chunked"}, "headers"},
		{"host", HTTP, Detail{Headers: "Host: x"}, "headers"},
		{"half a header", HTTP, Detail{Headers: "A: b\nC"}, "headers"},
		{"header with a line end", HTTP, Detail{Headers: "A: b\r\nC: d"}, "headers"},
		{"too long", HTTP, Detail{Headers: "A: " + strings.Repeat("x", MaxHeadersLength)}, "headers"},
		{"status upside down", HTTP, Detail{ExpectedStatus: "299-200"}, "expected_status"},
		{"status out of range", HTTP, Detail{ExpectedStatus: "100"}, "expected_status"},
		{"pattern", HTTP, Detail{BodyMatches: "(a"}, "body_matches"},
		{"send of http", HTTP, Detail{Send: "x"}, "send"},
		{"long expectation", TCP, Detail{Expect: strings.Repeat("x", MaxTextLength+1)}, "expect"},
		{"grpc service of http", HTTP, Detail{GRPCService: "x"}, "grpc_service"},
		{"authorities that are none", HTTPS, Detail{Authorities: "x"}, "ca_file"},
		{"authorities of http", HTTP, Detail{Authorities: "x"}, "ca_file"},
		{"counting", TCP, Detail{Counting: "sometimes"}, "counting"},
	} {
		spec := valid()
		spec.Type, spec.Detail = c.kind, c.detail.Details()
		got := ""
		for _, p := range spec.Validate() {
			got += p.Field
		}
		if got != c.field {
			t.Errorf("%s: problem with %q, want %q", c.name, got, c.field)
		}
	}
}
