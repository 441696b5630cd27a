package httpapi

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/operate/apidoc"
	"gslb.internal/shared/api"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// inOpenAPI is a path of gin as OpenAPI writes it.
func inOpenAPI(path string) string {
	return regexp.MustCompile(`[:*](\w+)`).ReplaceAllString(path, "{$1}")
}

// TestOpenAPI_DocumentIsWhatTheCodeSays holds the embedded document against
// the types, their comments and the table of operations.
func TestOpenAPI_DocumentIsWhatTheCodeSays(t *testing.T) {
	table := newRoles()
	paths := map[string]string{}
	for _, r := range (&Server{}).routes() {
		paths[inOpenAPI(r.path)] = r.path
	}
	made, err := apidoc.Document("../../../../shared/api", func(method, path string) api.Role { return table.of(method, paths[path]) })
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", made, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(made, openAPI) {
		t.Error("openapi.json is not what the code says: go test ./internal/operate/httpapi -run TestOpenAPI_Document -update")
	}
}

// TestOpenAPI_DescribesExactlyTheRoutes compares both ways.
func TestOpenAPI_DescribesExactlyTheRoutes(t *testing.T) {
	described := apidoc.Operations()
	var answered []string
	for _, r := range (&Server{}).routes() {
		answered = append(answered, r.method+" "+inOpenAPI(r.path))
	}
	for _, o := range answered {
		if !slices.Contains(described, o) {
			t.Errorf("%s is answered and not described: add it to internal/apidoc", o)
		}
	}
	for _, o := range described {
		if !slices.Contains(answered, o) {
			t.Errorf("%s is described and not answered", o)
		}
	}
}

func TestOpenAPI_DocumentAndPageAreServed(t *testing.T) {
	w := newWorld(t)
	if r := w.send("GET", pathOpenAPI, ""); r.status != 200 || r.body != string(openAPI) || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("document: %d %v", r.status, r.header)
	}
	for path, kind := range map[string]string{pathDocs: "text/html; charset=utf-8", pathDocsProgram: "text/javascript; charset=utf-8", pathDocsStyle: "text/css; charset=utf-8"} {
		r := w.send("GET", path, "")
		policy := r.header.Get("Content-Security-Policy")
		if r.status != 200 || r.header.Get("Content-Type") != kind || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
		if outside := regexp.MustCompile(`(https?:)?//[a-z]`).FindString(strings.ReplaceAll(r.body, "// ", "")); outside != "" {
			t.Errorf("%s names something outside: %s", path, outside)
		}
		if regexp.MustCompile(`(?i)\son\w+=|style=|<script>|innerHTML|eval\(`).MatchString(r.body) {
			t.Errorf("%s has something inline, which its policy forbids", path)
		}
	}
}

// TestRoles_EveryRouteHasOneAndTheTablesNameOnlyRoutes keeps a slip in the
// tables from opening or closing a path.
func TestRoles_EveryRouteHasOneAndTheTablesNameOnlyRoutes(t *testing.T) {
	table := newRoles()
	left := map[string]bool{}
	for _, o := range operates() {
		left[o] = true
	}
	for _, path := range tokenless() {
		left[path] = true
	}
	all := (&Server{}).routes()
	for _, r := range all {
		role := table.of(r.method, r.path)
		delete(left, r.method+" "+r.path)
		delete(left, r.path)
		if changes := r.method != http.MethodGet && r.method != http.MethodHead; changes && (role == api.RoleRead || role == api.RoleNone) {
			t.Errorf("%s %s changes something and needs role %s only", r.method, r.path, role)
		}
	}
	for name := range left {
		t.Errorf("the tables of roles have %q, which is no route", name)
	}
}
