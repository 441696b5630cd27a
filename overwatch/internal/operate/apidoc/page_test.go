package apidoc_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/operate/httpapi"
	"gslb.internal/shared/api"
)

const page = "../../../docs/api.md"

// listed matches a table of operations in the page. The first mark contains the paths of the table, which lists the
// operations of these paths. The path "*" means all operations outside the paths of other marks.
var listed = regexp.MustCompile(`(?s)<!-- operations (.*?) -->\n.*?<!-- end of operations -->\n`)

// The tables of the API page list each operation once.
func TestPage_IsWhatTheCodeSays(t *testing.T) {
	found, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	times, all := map[string]int{}, []string(nil)
	for _, block := range listed.FindAllSubmatch(found, -1) {
		all = append(all, strings.Fields(string(block[1]))...)
	}
	made := listed.ReplaceAllFunc(found, func(block []byte) []byte {
		below := string(listed.FindSubmatch(block)[1])
		return fmt.Appendf(nil, "<!-- operations %s -->\n%s<!-- end of operations -->\n", below,
			table(strings.Fields(below), all, times))
	})
	for _, o := range httpapi.Operations() {
		if n := times[o.Method+o.Path]; n != 1 && !strings.HasPrefix(o.Path, "/api/docs/") {
			t.Errorf("%s %s stands in %d tables of %s", o.Method, o.Path, n, page)
		}
	}
	if *update {
		if err := os.WriteFile(page, made, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(made, found) {
		t.Errorf("%s is not what the code says: go test ./internal/operate/apidoc -update", page)
	}
}

var conditionRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (attention|degraded|unhealthy) \\|")

// The page lists each kind of condition with its severity, in the order of api.ConditionTypes.
func TestPage_HasEachKindOfCondition(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found, want []string
	for _, row := range conditionRow.FindAllStringSubmatch(string(text), -1) {
		found = append(found, row[1]+" "+row[2])
	}
	for _, kind := range api.ConditionTypes() {
		want = append(want, string(kind.Kind)+" "+string(kind.Severity))
	}
	if !slices.Equal(found, want) {
		t.Errorf("%s has the conditions\n%q, want\n%q", page, found, want)
	}
}

// isBelow reports whether a path equals another path or is below it.
func isBelow(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

// table returns the operations at and below some paths, and their number. all contains the paths of all tables.
func table(below, all []string, times map[string]int) string {
	var b strings.Builder
	b.WriteString("\n| Method and path | Role | What |\n|---|---|---|\n")
	for _, o := range httpapi.Operations() {
		path := strings.TrimPrefix(o.Path, "/api/v1")
		for _, top := range below {
			other := top == "*" && !slices.ContainsFunc(all, func(top string) bool { return isBelow(path, top) })
			if !isBelow(path, top) && !other || strings.HasPrefix(path, "/api/docs/") {
				continue
			}
			role := string(o.LeastRole())
			if o.LeastRole() == api.RoleNone {
				role = "-"
			}
			fmt.Fprintf(&b, "| %s `%s` | %s | %s |\n", o.Method, path, role, o.Summary)
			times[o.Method+o.Path]++
		}
	}
	b.WriteString("\n")
	return b.String()
}
