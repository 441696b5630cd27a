package httpapi // inside: it shares world_test.go

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Without a console, the path / leads to the documentation, and each of its links works.
func TestFrontPage_LinksTheDocumentation(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.Console = false })
	w.wantError("a file of the console", w.send("GET", "/console/app.js", ""), 404)
	r := w.send("GET", "/", "")
	if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(r.body, `<a href="/api/docs">`) || r.header.Get("Content-Security-Policy") == "" {
		t.Fatalf("%d %v %s", r.status, r.header, r.body)
	}
	for _, part := range strings.Split(r.body, `href="`)[1:] {
		path, _, _ := strings.Cut(part, `"`)
		if link := w.send("GET", path, ""); link.status != 200 {
			t.Errorf("%s answers %d", path, link.status)
		}
	}
	w.want("POST /", w.send("POST", "/", "{}"), http.StatusMethodNotAllowed)
}

// Every client from an allowed network may load the files of the console. The policy makes the browser load nothing
// from other hosts, and unchanged files are not sent again.
func TestConsole_IsServedUnderItsPolicy(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	page := w.send("GET", "/", "")
	const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, part := range strings.Split(page.body, `="/console`)[1:] {
		path, _, _ := strings.Cut(part, `"`)
		r := w.send("GET", "/console"+path, "")
		if r.status != 200 || r.header.Get("Content-Security-Policy") != policy ||
			r.header.Get("Cache-Control") != "no-cache" ||
			r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
		again := w.send("GET", "/console"+path, "", "If-None-Match", r.header.Get("ETag"))
		if again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("%s again: %d %q", path, again.status, again.body)
		}
	}
	if page.status != 200 || page.header.Get("Content-Security-Policy") != policy || !strings.Contains(page.body,
		"app.js") {
		t.Errorf("the page: %d %v %s", page.status, page.header, page.body)
	}
	w.wantError("what is no file", w.send("GET", "/console/../server.go", "", "Authorization", "Bearer "+tokenOf("read")),
		404)
}

// A file is compressed for clients that accept gzip, with its own ETag.
func TestConsole_IsCompressed(t *testing.T) {
	w := newWorld(t)
	plain := w.send("GET", "/console/app.js", "", "Accept-Encoding", "gzip;q=0, br")
	packed := w.send("GET", "/console/app.js", "", "Accept-Encoding", "br, GZIP")
	reader, err := gzip.NewReader(strings.NewReader(packed.body))
	w.must(err)
	content, err := io.ReadAll(reader)
	w.must(err)
	if string(content) != plain.body || plain.header.Get("Content-Encoding") != "" ||
		packed.header.Get("Content-Encoding") != "gzip" || packed.header.Get("ETag") == plain.header.Get("ETag") ||
		len(packed.body) > len(plain.body)/2 {
		t.Errorf("%d bytes are %d: %v", len(plain.body), len(packed.body), packed.header)
	}
}

// If the listener of the API also serves metrics, clients with the read permission may scrape them.
func TestMetrics_OnTheListenerOfTheAPI(t *testing.T) {
	if r := newWorld(t).send("GET", "/metrics", ""); r.status != http.StatusNotFound {
		t.Errorf("metrics of their own listener: %d", r.status)
	}
	w := newWorld(t, func(o *Options) {
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "gslb_up 1") })
	})
	if r := w.send("GET", "/metrics", ""); r.status != 200 || r.body != "gslb_up 1\n" {
		t.Errorf("without tokens: %d %s", r.status, r.body)
	}
	withTokens(w)
	w.want("with tokens, without one", w.send("GET", "/metrics", ""), http.StatusUnauthorized)
	w.want("with a token", w.send("GET", "/metrics", "", "Authorization", "Bearer "+tokenOf("read")), 200)
}
