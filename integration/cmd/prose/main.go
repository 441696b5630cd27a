// Command prose checks the language of documents, comments, help texts and messages of the repository:
//
//	prose                         exit code 1 if a file exceeds the limits
//	prose overwatch/README.md     print each expression in some files, with advice
//	prose -update                 lower the values in the list of allowed files
//
// terms.txt contains terms that the project has replaced: each occurrence is an error. phrases.txt contains phrases
// that make a sentence hard to read: a file may have 10 per 1000 words. allowed.txt contains the files above these
// limits, with their numbers. Tests, changelogs and generated files are not checked. Code in documents, in backquotes
// or in blocks, is not prose.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

func main() {
	update := flag.Bool("update", false, "lower the values in the list of allowed files")
	flag.Parse()
	ok, err := run(os.Stdout, flag.Args(), *update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run prints the matches of the prose rules in the given files. Without files, it checks all files of the repository
// and reports whether each has at most its allowed number of matches.
func run(out io.Writer, files []string, update bool) (ok bool, err error) {
	list, err := readRules()
	if err != nil {
		return false, err
	}
	if len(files) > 0 {
		return true, explain(out, list, files)
	}
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return false, fmt.Errorf("root of the repository: %w", err)
	}
	root := strings.TrimSpace(string(top))
	reports, err := checkAll(root, list)
	if err != nil {
		return false, err
	}
	allowed, err := readAllowed(filepath.Join(root, allowedPath))
	if err != nil {
		return false, err
	}
	if update {
		return true, writeAllowed(filepath.Join(root, allowedPath), shrink(allowed, reports))
	}
	return summarize(out, reports, allowed), nil
}

// explain prints each match of the prose rules in some files.
func explain(out io.Writer, list rules, files []string) error {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("file to check: %w", err)
		}
		r := list.checkFile(file, string(content))
		printHits(out, r, r.terms, "error")
		printHits(out, r, r.phrases, "warning")
		fmt.Fprintf(out, "%s: %d terms, %d phrases for 1000 words (limit %d)\n", file, len(r.terms), r.density(), limit)
	}
	return nil
}

func printHits(out io.Writer, r report, hits []hit, severity string) {
	for _, h := range hits {
		fmt.Fprintf(out, "%s:%d: %s: %q: %s\n", r.path, h.line, severity, h.text, h.advice)
	}
}

// checkAll checks all committed files with prose.
func checkAll(root string, list rules) (reports []report, err error) {
	listed, err := exec.Command("git", "-C", root, "ls-files", "*.md", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("list of files: %w", err)
	}
	for file := range strings.Lines(string(listed)) {
		file = strings.TrimSuffix(file, "\n")
		content, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) || err == nil && skips(file, string(content)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("file to check: %w", err)
		}
		reports = append(reports, list.checkFile(file, string(content)))
	}
	return reports, nil
}

// skips reports whether a file is not checked.
func skips(file, content string) bool {
	return strings.HasSuffix(file, "_test.go") || path.Base(file) == "CHANGELOG.md" ||
		strings.Contains(file, "/testdata/") || strings.Contains(file, "/vendor/") ||
		strings.Contains(content[:min(len(content), 2000)], "Code generated ")
}

// summarize prints the files above the limits, and reports whether there are none.
func summarize(out io.Writer, reports []report, allowed map[string]allowance) bool {
	words, phrases, above := 0, 0, 0
	for _, r := range reports {
		words, phrases = words+r.words, phrases+len(r.phrases)
		if !r.exceeds(allowed[r.path]) {
			continue
		}
		above++
		if r.hasTerms(allowed[r.path]) {
			printHits(out, r, r.terms, "error")
		}
		if r.hasPhrases(allowed[r.path]) {
			fmt.Fprintf(out, "%s: %d phrases, %d for 1000 words, limit %d: rewrite the sentences of `go run "+
				"./integration/cmd/prose %s`\n", r.path, len(r.phrases), r.density(), limit, r.path)
		}
	}
	fmt.Fprintf(out, "prose: %d files, %d words, %.1f phrases for 1000 words; %d files above the limits, %d allowed\n",
		len(reports), words, float64(phrases)*1000/float64(max(words, 1)), above, len(allowed))
	if len(shrink(allowed, reports)) < len(allowed) {
		fmt.Fprintln(out, "prose: the list of allowed files can shrink: go run ./integration/cmd/prose -update")
	}
	return above == 0
}
