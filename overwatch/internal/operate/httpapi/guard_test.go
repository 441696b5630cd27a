package httpapi // inside: it looks at access and headerTimeout

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

const overridePath = "/api/v1/overrides/app.example/192.0.2.1:80"

func TestAPI_EveryAnswerHasItsOwnRequestID(t *testing.T) {
	w := newWorld(t)
	seen := map[string]bool{}
	for _, path := range []string{"/api/health", "/api/v1/servers", "/nothing", "/api/v1/regions", "/api/v1/servers/bad"} {
		r := w.send("GET", path, "", "X-Request-Id", "chosen-by-the-client")
		id := r.header.Get("X-Request-Id")
		if len(id) != 16 || seen[id] {
			t.Errorf("%s: request id %q", path, id)
		}
		seen[id] = true
		if r.header.Get("Cache-Control") != "no-store" || r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, r.header)
		}
	}
}

func TestAPI_UnknownPathsAndMethodsAnswerInJSON(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/index.html", "/api", "/api/v1", "/api/v1/", "/api/v1/servers/", "/api/v1//servers",
		"//api/v1/servers", "/api/v1/health", "/metrics", "/<script>"} {
		w.wantError(path, w.send("GET", path, ""), 404, "no path")
	}
	for _, tc := range []struct{ method, path, allow string }{
		{"POST", "/api/health", "GET, HEAD"},
		{"DELETE", "/api/v1/overwatch/stats", "GET, HEAD"},
		{"OPTIONS", "/api/v1/servers/" + service + ":192.0.2.1:80", "GET, HEAD, PATCH, DELETE"},
		{"PATCH", "/api/v1/overwatch/validate", "POST"},
		{"GET", "/api/v1/overwatch/agents/x/revoke", "POST"},
		{"TRACE", "/api/v1/overrides", "GET, HEAD"},
		{"MADEUP", "/api/v1/overrides", "GET, HEAD"},
	} {
		r := w.send(tc.method, tc.path, "")
		w.wantError(tc.method+" "+tc.path, r, 405, tc.method)
		if !sameWords(r.header.Get("Allow"), tc.allow) {
			t.Errorf("%s %s: Allow is %q, want %q", tc.method, tc.path, r.header.Get("Allow"), tc.allow)
		}
	}
}

func sameWords(a, b string) bool {
	words := func(s string) map[string]bool {
		set := map[string]bool{}
		for _, word := range strings.Split(s, ", ") {
			set[word] = true
		}
		return set
	}
	return fmt.Sprint(words(a)) == fmt.Sprint(words(b))
}

func TestAPI_HeadIsGetWithoutBody(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/api/health", "/api/v1/servers", "/api/v1/regions", "/api/v1/servers/bad"} {
		get, head := w.send("GET", path, ""), w.send("HEAD", path, "")
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: GET %d, HEAD %d %q", path, get.status, head.status, head.body)
		}
	}
}

func TestAPI_BodyMustBeJSONOfBoundedSize(t *testing.T) {
	w := newWorld(t)
	good := `{"healthy":false,"reason":"r"}`
	padded := good + strings.Repeat(" ", api.MaxBody-len(good))
	w.want("a body of exactly the limit", w.send("PUT", overridePath, padded), 200)
	w.wantError("one byte more", w.send("PUT", overridePath, padded+" "), 413, "1048576")
	w.wantError("one byte more without a length", sendChunked(w, padded+" "), 413)
	w.wantError("bytes for a method that needs none", w.send("DELETE", overridePath, padded+" "), 413)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json-seq",
		"nonsense/", "application/xml"} {
		w.wantError("content type "+kind, w.send("PUT", overridePath, good, "Content-Type", kind), 415, "application/json")
	}
	for _, kind := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON"} {
		w.want("content type "+kind, w.send("PUT", overridePath, good, "Content-Type", kind), 200)
	}
}

// sendChunked sends a body without its length.
func sendChunked(w *world, body string) httpReply {
	w.t.Helper()
	req, err := http.NewRequest("PUT", w.base+overridePath, io.MultiReader(strings.NewReader(body)))
	w.must(err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	w.must(err)
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	return httpReply{res.StatusCode, res.Header, string(raw)}
}

func TestAPI_PanicIsAnAnswerAndALogLineWithTheSameID(t *testing.T) {
	w := newWorld(t)
	w.fitness.panics = true
	r := w.send("GET", "/api/health", "")
	w.wantError("panic", r, 500, r.header.Get("X-Request-Id"))
	var body api.ErrorBody
	w.must(json.Unmarshal([]byte(r.body), &body))
	if body.RequestID != r.header.Get("X-Request-Id") || strings.Contains(r.body, "secret") {
		t.Errorf("body %s", r.body)
	}
	if log := w.log.String(); !strings.Contains(log, body.RequestID) || !strings.Contains(log, "a secret detail") ||
		!strings.Contains(log, "guard.go") {
		t.Errorf("log %s", log)
	}
	w.want("after the panic", w.send("GET", "/api/v1/live", ""), 200)
}

func TestAPI_CrossOriginChangeIsRefusedWithoutCORS(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.Console = false })
	for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1:8080", w.base} {
		w.wantError(origin, w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`, "Origin", origin), 403,
			"api.cors.allowed_origins")
		w.wantError(origin, w.send("POST", "/api/v1/overwatch/validate", "", "Origin", origin), 403)
		r := w.send("GET", "/api/v1/overrides", "", "Origin", origin)
		if r.status != 200 || r.header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(r.body, "192.0.2.1") {
			t.Errorf("%s: GET %d %v %s", origin, r.status, r.header, r.body)
		}
		w.wantError(origin, w.send("OPTIONS", "/api/v1/servers", "", "Origin", origin, "Access-Control-Request-Method",
			"PUT"), 405)
	}
}

// The page of the console may make the changes that its token permits. Without tokens, it may make all changes if hosts
// are checked. Other pages may change nothing. Each response contains the role.
func TestAPI_ConsoleChangesFromItsOwnOriginOnly(t *testing.T) {
	w := newWorld(t)
	put := func(origin string, more ...string) httpReply {
		return w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`, append([]string{"Origin", origin}, more...)...)
	}
	if r := put(w.base); r.status != 200 || r.header.Get("X-Api-Role") != "admin" {
		t.Errorf("hosts are checked: %d %v %s", r.status, r.header, r.body)
	}
	for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1:1", w.base + ".evil.example",
		w.base + "/"} {
		w.wantError(origin, put(origin), 403, "api.cors.allowed_origins")
	}
	w.wantError("rebound", put("http://evil.example", "Host", "evil.example"), 421, "evil.example")

	w.server.access.checkHost = false // as on an address beyond loopback, without api.allowed_hosts
	w.wantError("hosts are not checked", put(w.base), 403, "api.tokens", "api.allowed_hosts")
	if r := w.send("GET", "/api/v1/overrides", ""); r.header.Get("X-Api-Role") != "read" {
		t.Errorf("hosts are not checked: GET %v", r.header)
	}
	w.want("what is no page", w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`), 200)
	withTokens(w)
	w.wantError("no token", put(w.base), 401)
	w.wantError("a token that may read", put(w.base, "Authorization", "Bearer "+tokenOf("read")), 403, "operate")
	if r := put(w.base, "Authorization", "Bearer "+tokenOf("operate")); r.status != 200 ||
		r.header.Get("X-Api-Role") != "operate" {
		t.Errorf("a token that may: %d %v %s", r.status, r.header, r.body)
	}
}

func TestAPI_CORSAllowsTheConfiguredOrigins(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.API.EnableCORS = true
		o.API.CORS.AllowedOrigins = []string{"https://ui.example"}
		o.API.CORS.AllowCredentials = true
	})
	put := func(origin string) httpReply {
		return w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`, "Origin", origin)
	}
	w.wantError("foreign origin", put("https://evil.example"), 403)
	w.wantError("another port", put("https://ui.example:8443"), 403)
	r := put("https://ui.example")
	if r.status != 200 || r.header.Get("Access-Control-Allow-Origin") != "https://ui.example" ||
		r.header.Get("Access-Control-Allow-Credentials") != "true" || r.header.Get("Vary") != "Origin" {
		t.Errorf("allowed origin: %d %v", r.status, r.header)
	}
	r = w.send("OPTIONS", "/api/v1/servers", "", "Origin", "https://ui.example", "Access-Control-Request-Method", "PUT")
	for name, want := range map[string]string{
		"Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
		"Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, X-Requested-With",
		"Access-Control-Max-Age":       "86400",
	} {
		if r.status != 204 || r.header.Get(name) != want {
			t.Errorf("preflight: %d, %s is %q, want %q", r.status, name, r.header.Get(name), want)
		}
	}
	if r := w.send("GET", "/api/v1/servers", ""); r.header.Get("Vary") != "Origin" ||
		r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without an origin: %v", r.header)
	}
}

func TestAPI_CORSForAnyOriginNeverAllowsCredentials(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.API.EnableCORS = true
		o.API.CORS.AllowCredentials = true // the configuration refuses this pair; so does the header
	})
	r := w.send("GET", "/api/v1/servers", "", "Origin", "https://any.example")
	if r.header.Get("Access-Control-Allow-Origin") != "*" || r.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", r.header)
	}
}

func TestAPI_PreflightOfAStrangerIsRefused(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.API.EnableCORS = true
		o.API.AllowedNetworks = prefixes(t, "10.0.0.0/8")
	})
	w.wantError("preflight", w.send("OPTIONS", "/api/v1/servers", "", "Origin", "https://any.example",
		"Access-Control-Request-Method", "PUT"), 403)
}

// raw sends bytes without changes and returns the first response.
func (w *world) raw(request string) (httpReply, error) {
	w.t.Helper()
	conn, err := net.DialTimeout("tcp", w.server.Addr().String(), deadline)
	w.must(err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(deadline))
	if _, err := io.WriteString(conn, request); err != nil {
		return httpReply{}, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return httpReply{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return httpReply{res.StatusCode, res.Header, string(body)}, err
}

func TestAPI_PathTricksFindNothingAndBreakNothing(t *testing.T) {
	w := newWorld(t)
	for _, target := range []string{
		"/api/v1/servers/..", "/api/v1/servers/../overrides", "/api/v1/servers/%2e%2e", "/api/v1/servers/..%2foverrides",
		"/api/v1/servers/%2F", "/api/v1/servers/%00",
		"/api/v1/servers/%ff%fe", "/api/v1/servers/" + strings.Repeat("a", 9000), "/api/v1/servers/:id", "/api/v1/servers/*",
		"/api/v1/servers/a:b:c",
		"/api/v1/servers/" + service + ":192.0.2.1:080", "/api/v1/servers/" + service + ":192.0.2.1:+80",
		"/api/v1/servers/" + service + ":192.0.2.1:65616",
		"/api/v1/servers/" + service + ":192.0.2.1%0a:80", "/api/v1/servers/" + service + ":::1%25eth0:80",
		"/api/v1/servers/" + service + ":[192.0.2.1]:80",
		"/api/v1/domains/..%5c..", "/api/v1/domains/%E2%80%AE", "/api/v1/overrides/app.example/192.0.2.1%2f24",
		"/api/v1/overrides/app.example/192.0.2.1:0",
		"/api/v1/overrides/app.example/fe80::1%25eth0", "/api/v1/overwatch/backends/app.example/192.0.2.1/80/..",
		"/api/v1/overwatch/agents/%2e", "/api/v1/overwatch/agents/..%2Fexpiring",
		"/api/v1/servers?limit=%zz", "/api/v1/servers;x=1", "http://evil.example@127.0.0.1/api/v1/overrides/x/y",
	} {
		for _, method := range []string{"GET", "DELETE", "PUT"} {
			r, err := w.raw(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			if err != nil {
				t.Errorf("%s %.80s: %v", method, target, err)
				continue
			}
			if r.status < 400 || r.status >= 500 && r.status != 501 {
				t.Errorf("%s %.80s: %d %s", method, target, r.status, r.body)
			}
			if r.header.Get("Content-Type") == "application/json" {
				w.wantError(method+" "+target, r, r.status)
			}
		}
	}
	for _, line := range []string{"OPTIONS *", "CONNECT 127.0.0.1:80", "CONNECT /api/v1/servers", "GET ?limit=1",
		"GET *"} {
		if r, err := w.raw(line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err == nil &&
			(r.status < 400 || r.status >= 500) {
			t.Errorf("%s: %d %s", line, r.status, r.body)
		}
	}
	w.want("afterwards", w.send("GET", "/api/v1/servers", ""), 200)
	if strings.Contains(w.log.String(), "panic") {
		t.Error(w.log.String())
	}
}

func TestAPI_SlowAndHalfRequestsKeepNobodyOut(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.MaxConnections = 8 })
	half := []string{
		"", "GET /api/v1/servers HTT", "GET /api/v1/servers HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
		"PUT " + overridePath +
			" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"healthy\":",
	}
	var took []time.Duration
	for i := range 100 {
		conn, err := net.DialTimeout("tcp", w.server.Addr().String(), deadline)
		w.must(err)
		defer conn.Close()
		_, err = io.WriteString(conn, half[i%len(half)])
		w.must(err)
		if i%10 == 9 {
			started := time.Now()
			if r := w.send("GET", "/api/v1/servers", ""); r.status != 200 {
				t.Fatalf("after %d half requests: %d in %v", i, r.status, time.Since(started))
			}
			took = append(took, time.Since(started))
		}
	}
	// The test uses the median, because a busy machine may delay single requests. A blocked client always waits until half
	// a request has timed out.
	slices.Sort(took)
	if middle := took[len(took)/2]; middle >= headerTimeout {
		t.Errorf("the answers took %v", took)
	}
}

// Clients without a token that read public resources slowly block no other client.
func TestAPI_SlowReadersWithoutATokenKeepNobodyOut(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.MaxConnections = 2 })
	withTokens(w)
	w.fitness.message = strings.Repeat("x", 16<<20) // more than the socket buffers hold without a reader
	for range 2 {
		conn, err := net.DialTimeout("tcp", w.server.Addr().String(), deadline)
		w.must(err)
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(deadline))
		_, err = io.WriteString(conn, "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
		w.must(err)
		_, err = conn.Read(make([]byte, 1)) // the answer has begun
		w.must(err)
	}
	w.want("with a token", w.send("GET", "/api/v1/servers", "", "Authorization", "Bearer "+tokenOf("read")), 200)
	w.want("a probe", w.send("GET", "/api/v1/live", ""), 200)
}

func TestNew_SaysWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	good := w.server.o
	for name, tc := range map[string]struct {
		spoil func(*Options)
		want  string
	}{
		"port in use": {func(o *Options) { o.API.Address = w.server.Addr().String() },
			"api.address: listening on " + w.server.Addr().String()},
		"no connections": {func(o *Options) { o.API.MaxConnections = 0 }, "api.max_connections: 0"},
		"no owner":       {func(o *Options) { o.Pins = nil }, "Options.Pins"},
	} {
		o := good
		o.API.Address = "127.0.0.1:0"
		tc.spoil(&o)
		if s, err := New(o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v; want an error with %q", name, s, err, tc.want)
		}
	}
}
