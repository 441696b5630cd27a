package integration_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// named is a function of an overwatch node in ARCHITECTURE.md: `layer/package` `Type.Function` or `Function`.
var named = regexp.MustCompile("`([a-z]+(?:/[a-z]+)?)` `(?:([A-Za-z]+)\\.)?([A-Za-z]+)`")

// The flows of ARCHITECTURE.md name existing functions, so that a reader can find them.
func TestArchitecture_ItsFunctionsExist(t *testing.T) {
	top, err := harness.Workspace()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(top, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, flows, _ := strings.Cut(string(page), "## A query")
	flows, _, _ = strings.Cut(flows, "## Who owns")
	found := named.FindAllStringSubmatch(flows, -1)
	if len(found) < 20 {
		t.Fatalf("%d functions are named in the flows", len(found))
	}
	for _, f := range found {
		pattern := `(?m)^func ` + f[3] + `\(`
		if f[2] != "" {
			pattern = `(?m)^func \(\w+ \*?` + f[2] + `\) ` + f[3] + `\(`
		}
		if !declared(t, filepath.Join(top, "overwatch", "internal", f[1]), regexp.MustCompile(pattern)) {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", f[0])
		}
	}
	if lines := strings.Count(string(page), "\n"); lines > 180 {
		t.Errorf("ARCHITECTURE.md has %d lines, at most 180 are readable", lines)
	}
}

// declared reports whether a file of a directory contains a match of the pattern.
func declared(t *testing.T, folder string, pattern *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if pattern.Match(text) {
			return true
		}
	}
	return false
}
