package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is the maximum number of columns of a line of a document. Blocks of code may be wider, because readers copy
// them.
const widest = 120

// documents returns the texts of all documents of the repository, by path from its top.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := textsOf(t, "*.md")
	if len(texts) < 20 {
		t.Fatalf("only %d documents", len(texts))
	}
	return texts
}

// textsOf returns the committed files that patterns of git select, by path from the top of the repository.
func textsOf(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", "..", "ls-files"}, patterns...)...).Output()
	if err != nil {
		t.Skipf("no list of files: %v", err)
	}
	texts := map[string]string{}
	for _, path := range strings.Fields(string(list)) {
		text, err := os.ReadFile(filepath.Join("..", path))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// withoutCode returns a document without its blocks of code, each line at its place.
func withoutCode(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		if code || fence || strings.HasPrefix(line, "    ") {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// No line of a document is longer than 120 columns, including rows of tables.
func TestProse_LinesEndAt120Columns(t *testing.T) {
	for path, text := range documents(t) {
		for i, line := range strings.Split(withoutCode(text), "\n") {
			if columns := utf8.RuneCountInString(line); columns > widest {
				t.Errorf("%s:%d has %d columns", path, i+1, columns)
			}
		}
	}
}

// No line of code that is not Go is longer than 120 columns. The linter checks Go code. Files of other projects and
// generated files may have longer lines.
func TestProse_LinesOfScriptsEndAt120Columns(t *testing.T) {
	texts := textsOf(t, "*Makefile", ".ci/*", ".github/*.yml", "*.sh", "*.js", "*.css", "*.html", "*.yaml", "*.yml",
		"*.conf", "*.service", "*.socket", "*Containerfile", "packaging/man/*", ":!:**/vendor/**", ":!:**/testdata/**")
	if len(texts) < 50 {
		t.Fatalf("only %d files", len(texts))
	}
	for path, text := range texts {
		for i, line := range strings.Split(text, "\n") {
			if columns := utf8.RuneCountInString(line); columns > widest {
				t.Errorf("%s:%d has %d columns", path, i+1, columns)
			}
		}
	}
}

// Every link from a document to the repository leads to an existing file, and to an existing heading if the link
// contains a heading.
func TestProse_LinksLeadSomewhere(t *testing.T) {
	links, headings := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile(`(?m)^#+ (.*)$`)
	texts := documents(t)
	for path, text := range texts {
		for _, link := range links.FindAllStringSubmatch(withoutCode(text), -1) {
			to, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(to, ":") {
				continue // elsewhere
			}
			target := path
			if to != "" {
				target = filepath.Join(filepath.Dir(path), to)
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: %s leads nowhere", path, link[1])
				continue
			}
			found := anchor == ""
			for _, heading := range headings.FindAllStringSubmatch(withoutCode(texts[target]), -1) {
				found = found || anchorOf(heading[1]) == anchor
			}
			if !found {
				t.Errorf("%s: %s has no heading #%s", path, target, anchor)
			}
		}
	}
}

// anchorOf returns the anchor that GitHub gives to a heading.
func anchorOf(heading string) string {
	kept := regexp.MustCompile(`[^\p{L}\p{N}\- _]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}
