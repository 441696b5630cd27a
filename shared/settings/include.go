package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// includesKey is a key of each file, without a struct field: paths and patterns of further files, relative to the file
// with the key. A pattern may have no match; a path without a pattern must exist.
const includesKey = "includes"

// reader reads a file and its includes: the file, then its includes in their order, each followed by its own includes.
// Matches of a pattern are ordered by name.
type reader struct {
	report *Report
	chain  []string            // files that are being read, outermost first
	known  map[string]Position // by resolved path: where a file was included
}

// read reads one file. at is the entry of includes that names it.
func (r *reader) read(path string, at Position) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		resolved = path
	}
	if absolute, err := filepath.Abs(resolved); err == nil {
		resolved = absolute
	}
	if start := slices.Index(r.chain, resolved); start >= 0 {
		cycle := append(slices.Clone(r.chain[start:]), resolved)
		r.wrong(at, "", "the files include one another in a cycle: "+strings.Join(cycle, " -> "))
		return
	}
	if first, again := r.known[resolved]; again {
		r.wrong(at, "", path+" is already included at "+first.String()+": keep one")
		return
	}
	if len(r.known) == maxFiles {
		r.wrong(at, "", fmt.Sprintf("%s is one file too many: a configuration may have %d", path, maxFiles))
		return
	}
	r.known[resolved] = at
	r.chain = append(r.chain, resolved)
	defer func() { r.chain = r.chain[:len(r.chain)-1] }()
	if doc := r.open(path, at); doc != nil {
		r.includes(doc)
	}
}

// open reads and parses one file. at is the entry that names it. It returns nil after an error.
func (r *reader) open(path string, at Position) *document {
	content, err := readFile(path, maxFile)
	if err != nil && at.File != "" {
		r.wrong(at, "", path+" "+err.Error())
		return nil
	}
	if err != nil {
		r.report.append(Problem{File: path, Message: err.Error()})
		return nil
	}
	doc := &document{path: path, perm: content.perm}
	r.report.documents = append(r.report.documents, doc)
	var problems Problems
	if doc.root, problems = parse(path, content.text); problems != nil {
		for _, p := range problems {
			p.File = path
			r.report.append(p)
		}
		return nil
	}
	if !isJSON(path) && len(content.text) > largeYAML {
		r.report.large = append(r.report.large, path)
	}
	if doc.root.kind != mapping && !doc.root.isNull() {
		problem := Problem{Message: "expected keys with values, such as mode: overwatch, found " + doc.root.describe()}
		r.report.append(problem.in(doc.position(doc.root.at)))
		return nil
	}
	return doc
}

// parse reads the text of the file at path: JSON if its name ends in .json, else YAML.
func parse(path, text string) (node, Problems) {
	if isJSON(path) {
		return parseJSON(text)
	}
	return parseYAML(text)
}

func isJSON(path string) bool { return filepath.Ext(path) == ".json" }

// includes reads the files that a document names.
func (r *reader) includes(doc *document) {
	list := doc.root.value(includesKey)
	if list == nil {
		return
	}
	if list.kind != sequence {
		r.wrong(doc.position(list.at), "", "expected a list of paths or patterns, found "+list.describe())
		return
	}
	for i := range list.children {
		n := &list.children[i]
		at := doc.position(n.at)
		if !n.isScalar() || n.text == "" {
			r.wrong(at, "", "expected the path or pattern of a file, found "+n.describe())
			continue
		}
		for _, path := range r.expand(n.text, at) {
			r.read(path, at)
		}
	}
}

// expand returns the files of an entry.
func (r *reader) expand(entry string, at Position) []string {
	pattern := beside(at.File, entry)
	if !strings.ContainsAny(entry, `*?[\`) {
		if _, err := os.Stat(pattern); err != nil {
			r.wrong(at, entry, plain(err).Error()+
				": create the file, or write a pattern such as conf.d/*.yaml if it may be missing")
			return nil
		}
		return []string{pattern}
	}
	matches, err := Glob(pattern)
	if err != nil {
		r.wrong(at, entry, "not a pattern: close each [ with a ]")
	}
	return matches
}

// Glob is filepath.Glob without hidden files, which editors create. A pattern that begins with a dot matches hidden
// files.
func Glob(pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	return slices.DeleteFunc(matches, func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), ".") && !strings.HasPrefix(filepath.Base(pattern), ".")
	}), err
}

func (r *reader) wrong(at Position, value, message string) {
	r.report.append(Problem{Key: includesKey, Value: value, Message: message}.in(at))
}
