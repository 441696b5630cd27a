package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Whoever opens the bare address is led to the documentation, and each link leads somewhere.
func TestFrontPage_LinksTheDocumentation(t *testing.T) {
	w := newWorld(t)
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
	if r := w.send("POST", "/", "{}"); r.status != http.StatusMethodNotAllowed {
		t.Errorf("POST / answers %d", r.status)
	}
}

// Where the API's listener answers scrapes too, it does so for those who may read.
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
	if r := w.send("GET", "/metrics", ""); r.status != http.StatusUnauthorized {
		t.Errorf("with tokens, without one: %d", r.status)
	}
	if r := w.send("GET", "/metrics", "", "Authorization", "Bearer "+tokenOf("read")); r.status != 200 {
		t.Errorf("with a token: %d", r.status)
	}
}
