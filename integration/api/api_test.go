package api_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// apiBound is the time limit of one request of these tests.
const apiBound = 20 * time.Second

// spoken is a raw answer.
type spoken struct {
	status int
	header http.Header
	body   string
}

// speak sends bytes on a separate connection and reads the answer.
func speak(t *testing.T, at, request string) (spoken, error) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", at, apiBound)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(apiBound))
	if _, err := io.WriteString(conn, request); err != nil {
		return spoken{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return spoken{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return spoken{resp.StatusCode, resp.Header, string(body)}, err
}

// lines returns an HTTP request with an optional body.
func lines(method, target, body string, headers ...string) string {
	text := method + " " + target + " HTTP/1.1\r\nConnection: close\r\n"
	if !strings.Contains(strings.Join(headers, "\n"), "Host:") {
		text += "Host: localhost\r\n"
	}
	if body != "" {
		text += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	for _, h := range headers {
		text += h + "\r\n"
	}
	return text + "\r\n" + body
}

// apiNode starts a node without backends and with additional keys of the API.
func apiNode(t *testing.T, address string, more map[string]any) *harness.Node {
	t.Helper()
	s := testbed.NewSite(t, 1, 0)
	n := s.Nodes[0]
	n.File.API.More = more
	if address != "" {
		n.File.API.Address = fmt.Sprintf("%s:%d", address, n.API.Port())
	}
	startAPI(t, n)
	return n
}

// startAPI starts a node and waits until its API listens.
func startAPI(t *testing.T, n *harness.Node) {
	t.Helper()
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "the API", func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", n.API.String())
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// The connection's address determines who may use the API. Each family has its own networks.
func TestAPI_NetworksDecideByTheAddressOfTheConnection(t *testing.T) {
	const spoofed, mapped = "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: ::ffff:127.0.0.1"
	for name, test := range map[string]struct {
		listen  string
		allowed []string
		more    map[string]any
		four    int // the status for a client of 127.0.0.1
		six     int // for one of ::1; 0: not asked
		headers []string
	}{
		"the default": {listen: "[::]", allowed: []string{"127.0.0.1/32", "::1/128"}, four: 200,
			six: 200},
		"all of IPv4 is no IPv6": {listen: "[::]", allowed: []string{"0.0.0.0/0"}, four: 200, six: 403},
		"all of IPv6 is no IPv4": {listen: "[::]", allowed: []string{"::/0"}, four: 403, six: 200},
		"an IPv4-mapped network is IPv4": {listen: "[::]", allowed: []string{"::ffff:127.0.0.0/104"}, four: 200,
			six: 403},
		"a forwarded address is not believed": {listen: "[::]", allowed: []string{"10.0.0.0/8"}, four: 403, six: 403,
			headers: []string{spoofed, "X-Real-Ip: 10.1.2.3", "Forwarded: for=10.1.2.3"}},
		"nor from a stranger to a proxy": {allowed: []string{"10.0.0.0/8"},
			more: map[string]any{"trust_proxy_headers": true}, four: 403, headers: []string{"X-Forwarded-For: 10.1.2.3"}},
		"from a proxy it counts": {allowed: []string{"127.0.0.1/32"},
			more: map[string]any{"trust_proxy_headers": true}, four: 403,
			headers: []string{"X-Forwarded-For: 127.0.0.1, 10.1.2.3"}},
		"mapped as well": {allowed: []string{"127.0.0.1/32"},
			more: map[string]any{"trust_proxy_headers": true}, four: 200, headers: []string{mapped}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := map[string]any{"allowed_networks": test.allowed}
			for key, value := range test.more {
				more[key] = value
			}
			n := apiNode(t, test.listen, more)
			ask := func(host string, want int) {
				t.Helper()
				got, err := speak(t, net.JoinHostPort(host, fmt.Sprint(n.API.Port())),
					lines("GET", "/api/v1/servers", "", test.headers...))
				if err != nil || got.status != want {
					t.Errorf("from %s: %d %s, %v; want %d", host, got.status, got.body, err, want)
				}
				if live, err := speak(t, net.JoinHostPort(host, fmt.Sprint(n.API.Port())),
					lines("GET", "/api/v1/live", "")); err != nil || live.status != 200 {
					t.Errorf("from %s: /live is %d, %v", host, live.status, err)
				}
			}
			ask("127.0.0.1", test.four)
			if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
				t.Logf("not asked over IPv6: %v", err)
			} else if l.Close(); test.six != 0 {
				ask("::1", test.six)
			}
		})
	}
}

// The API rejects requests that a web page can cause, malformed requests and oversized requests with an error text, and
// the node continues.
func TestAPI_WhatIsHostileIsRefusedAndHarmsNothing(t *testing.T) {
	n := apiNode(t, "", nil)
	at := n.API.String()
	const servers = "/api/v1/servers"
	huge := strings.Repeat("x", 700_000)
	deep := strings.Repeat("[", 100_000)
	create := func(port, weight string) string {
		return fmt.Sprintf(`{"service":%q,"address":"192.0.2.1","port":%s,"weight":%s,"region":"eu"}`, testbed.AppName, port,
			weight)
	}
	for name, test := range map[string]struct {
		request string
		status  int
		word    string
	}{
		"DNS rebinding": {lines("GET", servers, "", "Host: evil.example"), 421, "evil.example"},
		"rebinding, a long name": {lines("GET", servers, "", "Host: "+strings.Repeat("e", 5000)+".example"), 421,
			"api.allowed_hosts"},
		"a page of another origin": {lines("POST", "/api/v1/config/reload", "", "Origin: https://evil.example"), 403,
			"evil.example"},
		"a null origin": {lines("DELETE", servers+"/x:192.0.2.1:80", "", "Origin: null"), 403, "origin"},
		"a form": {lines("POST", servers, "", "Content-Type: application/x-www-form-urlencoded",
			"Content-Length: 3") + "a=b", 415, "application/json"},
		"more than 1 MiB": {lines("POST", servers, "", "Content-Type: application/json", "Content-Length: 1048577"),
			413, "1048576"},
		"a length below zero":     {lines("POST", servers, "", "Content-Length: -1"), 400, ""},
		"two lengths":             {lines("POST", servers, "{}", "Content-Length: 3"), 400, ""},
		"not UTF-8":               {lines("POST", servers, "{\"service\":\"\xff\xfe\"}"), 400, "UTF-8"},
		"deep JSON":               {lines("POST", servers, deep), 400, "deep"},
		"a name twice":            {lines("POST", servers, `{"port":1,"port":2}`), 400, "twice"},
		"an unknown field":        {lines("POST", servers, `{"weigth":1}`), 400, "weigth"},
		"a huge unknown field":    {lines("POST", servers, `{"`+huge+`":1}`), 400, "unknown"},
		"a huge service":          {lines("POST", servers, `{"service":"`+huge+`"}`), 400, "service"},
		"a huge type":             {lines("POST", servers, `{"port":"`+huge+`"}`), 400, "port"},
		"port 0":                  {lines("POST", servers, create("0", "1")), 400, "port is 0"},
		"port 65536":              {lines("POST", servers, create("65536", "1")), 400, "65535"},
		"a port below zero":       {lines("POST", servers, create("-1", "1")), 400, "port is -1"},
		"a port of 2^64":          {lines("POST", servers, create("18446744073709551616", "1")), 400, "port"},
		"a port of 1e3":           {lines("POST", servers, create("1e3", "1")), 400, "port"},
		"half a port":             {lines("POST", servers, create("80.5", "1")), 400, "port"},
		"weight 1001":             {lines("POST", servers, create("80", "1001")), 400, "1000"},
		"weight of minus 2^63":    {lines("POST", servers, create("80", "-9223372036854775808")), 400, "weight"},
		"out of the path":         {lines("GET", servers+"/../../../etc/passwd", ""), 404, ""},
		"escaped out of the path": {lines("GET", servers+"/..%2f..%2fetc%2fpasswd", ""), 400, ""},
		"a zero octet":            {lines("GET", servers+"/%00", ""), 400, ""},
		"a cidr out of the path":  {lines("DELETE", "/api/v1/geo/mappings/..%2F..%2Fetc", ""), 400, ""},
		"limit of 2^63":           {lines("GET", servers+"?limit=9223372036854775808", ""), 400, "limit"},
		"offset below zero":       {lines("GET", servers+"?offset=-1", ""), 400, "offset"},
		"a huge query":            {lines("GET", servers+"?limit="+strings.Repeat("9", 12_000), ""), 400, "limit"},
		"a header of 40 KiB":      {lines("GET", servers, "", "X-Long: "+strings.Repeat("h", 40_000)), 431, ""},
		"a method of its own":     {lines("BREW", servers, ""), 405, "BREW"},
		"an unknown path":         {lines("GET", "/"+strings.Repeat("p", 9000), ""), 404, "no path"},
	} {
		got, err := speak(t, at, test.request)
		if test.status == http.StatusRequestHeaderFieldsTooLarge && got.status == test.status {
			continue // what was not read resets the connection, maybe before the body of the answer
		}
		if err != nil || got.status != test.status || !strings.Contains(got.body, test.word) {
			t.Errorf("%s: %d %.300q, %v; want %d with %q", name, got.status, got.body, err, test.status, test.word)
		}
		const bound = 2048 // of what an error echoes
		if len(got.body) > bound {
			t.Errorf("%s: the error has %d bytes: what was sent must be cut", name, len(got.body))
		}
		for _, inside := range []string{"goroutine", ".go:", "panic", n.File.DataDir, n.File.Overwatch.Gossip.EncryptionKey} {
			if strings.Contains(got.body, inside) {
				t.Errorf("%s: the answer shows %q", name, inside)
			}
		}
	}
	if got, err := speak(t, at, lines("GET", servers, "")); err != nil || got.status != 200 {
		t.Errorf("afterwards: %d, %v", got.status, err)
	}
}

// Incomplete requests on more connections than the limit do not exclude other clients. A body that does not arrive
// causes a timeout.
func TestAPI_AThousandConnectionsKeepNobodyOut(t *testing.T) {
	n := apiNode(t, "", map[string]any{"max_connections": 64})
	half := []string{"", "GET /api/v1/ser",
		"POST /api/v1/servers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"}
	for i := range 1000 {
		conn, err := net.DialTimeout("tcp", n.API.String(), apiBound)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, half[i%len(half)])
		if i%100 == 99 {
			began := time.Now()
			if got, err := speak(t, n.API.String(), lines("GET", "/api/v1/servers", "")); err != nil || got.status != 200 {
				t.Errorf("after %d connections: %d in %v, %v", i+1, got.status, time.Since(began), err)
			}
			testbed.InTime(t, fmt.Sprintf("an answer after %d connections", i+1), 5*time.Second, began, time.Now())
		}
	}
}

// With api.tls and api.tokens, the typed client has access with the required credentials, and no other client has
// access.
func TestAPI_TLSAndTokens(t *testing.T) {
	dir := t.TempDir()
	authority, files := testbed.SelfSigned(t, dir)
	admin, reader := strings.Repeat("a1", 20), strings.Repeat("r2", 20)
	n := apiNode(t, "", map[string]any{
		"tls":    map[string]any{"certificate": files[0], "key": files[1]},
		"tokens": map[string]any{"admin": map[string]string{"ops": admin}, "read": map[string]string{"dashboard": reader}},
	})
	client := func(token string, config *tls.Config) *api.Client {
		t.Helper()
		c, err := api.NewClient(api.ClientOptions{Node: "https://" + n.API.String(), Timeout: apiBound, TLS: config,
			Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	trusting := &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12}
	refused := func(err error, status int) bool {
		answer, ok := errors.AsType[*api.Error](err)
		return ok && answer.Status == status
	}
	create := api.DomainChange{"name": testbed.CreatedName}
	if _, err := client(admin, trusting).CreateDomain(t.Context(), create); err != nil {
		t.Error(err)
	}
	if _, err := client(reader, trusting).Domains(t.Context()); err != nil {
		t.Error(err)
	}
	if err := client(reader, trusting).DeleteDomain(t.Context(), testbed.CreatedName); !refused(err,
		http.StatusForbidden) {
		t.Errorf("a reader deletes: %v", err)
	}
	for _, token := range []string{"", strings.ToUpper(admin), admin + "x"} {
		if _, err := client(token, trusting).Domains(t.Context()); !refused(err, http.StatusUnauthorized) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	if _, err := client("", trusting).Health(t.Context()); err != nil {
		t.Errorf("probes need no token: %v", err)
	}
	if _, err := client(admin, &tls.Config{MinVersion: tls.VersionTLS12}).Health(t.Context()); err == nil {
		t.Error("a client that does not know the authority got an answer")
	}
	if got, err := speak(t, n.API.String(), lines("GET", "/api/v1/servers", "",
		"Authorization: Bearer "+admin)); err == nil && got.status == 200 {
		t.Error("plain HTTP was answered")
	}
	log, err := client(admin, trusting).AuditLog(t.Context(), nil)
	if err != nil || len(log.Entries) == 0 || log.Entries[0].Actor != "ops" {
		t.Errorf("the audit log: %+v, %v", log.Entries, err)
	}
	var csv bytes.Buffer
	if err := client(reader, trusting).ExportAudit(t.Context(), nil, &csv); err != nil ||
		!strings.Contains(csv.String(), testbed.CreatedName) {
		t.Errorf("export: %v %s", err, csv.String())
	}
}
