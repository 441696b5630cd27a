package httpapi // inside: it uses openAPI

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/operate/console"
	"gslb.internal/shared/api"
)

func TestOpenAPI_DocumentAndPageAreServed(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.Console = false })
	if r := w.send("GET", "/api/v1/openapi.json", ""); r.status != 200 || r.body != string(openAPI) ||
		r.header.Get("Content-Type") != "application/json" {
		t.Errorf("document: %d %v", r.status, r.header)
	}
	for path, kind := range map[string]string{"/api/docs": "text/html; charset=utf-8",
		"/api/docs/docs.js": "text/javascript; charset=utf-8", "/api/docs/page.js": "text/javascript; charset=utf-8",
		"/api/docs/docs.css": "text/css; charset=utf-8"} {
		r := w.send("GET", path, "")
		policy := r.header.Get("Content-Security-Policy")
		if r.status != 200 || r.header.Get("Content-Type") != kind || !strings.Contains(policy, "default-src 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
		if outside := regexp.MustCompile(`(https?:)?//[a-z]`).FindString(strings.ReplaceAll(r.body, "// ",
			"")); outside != "" {
			t.Errorf("%s names something outside: %s", path, outside)
		}
		if regexp.MustCompile(`(?i)\son\w+=|style=|<script>|innerHTML|eval\(`).MatchString(r.body) {
			t.Errorf("%s has something inline, which its policy forbids", path)
		}
	}
}

// A node with a console serves it at the path of the documentation, where it shows the view of the API.
func TestOpenAPI_TheConsoleHasThePage(t *testing.T) {
	w := newWorld(t)
	r, page := w.send("GET", "/api/docs", ""), w.send("GET", "/", "")
	if r.status != 200 || r.body != page.body || r.header.Get("Content-Security-Policy") != console.Policy {
		t.Errorf("%d %v", r.status, r.header)
	}
}

// Operations that change state must not permit the read role. Queries may use POST.
func TestOperations_ChangesNeedMoreThanReading(t *testing.T) {
	questions := []string{"/api/v1/routing/test"}
	for _, o := range Operations() {
		if slices.Contains(questions, o.Path) {
			continue
		}
		role := o.LeastRole()
		if o.Method != http.MethodGet && (role == api.RoleRead || role == api.RoleNone || o.Public) {
			t.Errorf("%s %s changes something and needs role %s only", o.Method, o.Path, role)
		}
	}
}
