package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository has what documents may refer to.
type repository struct {
	files   []string // from the top of the workspace
	dirs    map[string]bool
	targets []string            // of make
	tests   map[string][]string // names of tests, benchmarks and fuzz targets, by folder
}

func readRepository(t *testing.T) *repository {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{files: strings.Fields(string(list)), dirs: map[string]bool{}, tests: map[string][]string{}}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
	for _, file := range r.files {
		for dir := path.Dir(file); dir != "." && !r.dirs[dir]; dir = path.Dir(dir) {
			r.dirs[dir] = true
		}
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			continue // deleted and not committed
		}
		for _, m := range declared.FindAllSubmatch(text, -1) {
			r.tests[path.Dir(file)] = append(r.tests[path.Dir(file)], string(m[1]))
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):`).FindAllSubmatch(makefile, -1) {
		r.targets = append(r.targets, string(m[1]))
	}
	return r
}

var (
	codeSpans = regexp.MustCompile("(?s)```[a-z]*\n.*?```|`[^`]+`|(?m:^ {4}[^\n]*$)")
	ownPath   = regexp.MustCompile(
		`^(?:\.\./|\./)*((?:overwatch|agent|gslbctl|shared|integration|packaging|\.github|\.ci)/[\w./*{}<>-]*)$`)
	goFile     = regexp.MustCompile(`^[\w./*-]+\.go$`)
	makeTarget = regexp.MustCompile("(?m:^`?|&& )make ([a-z][a-z-]*)")
	goTestRun  = regexp.MustCompile(`go test ([^;&#\n]*)`)
	tag        = regexp.MustCompile(`/v[0-9X][.0-9XYZ]*$`)
)

// faults returns the missing objects that a code span refers to. beside is the text around the span, which may name the
// directory of a command. Angle brackets mark a hypothetical part of a path: only the text before them is checked.
func (r *repository) faults(code, beside string) (list []string) {
	for word := range strings.FieldsSeq(strings.Trim(code, "`")) {
		word = strings.Trim(word, "`\"'(),;:")
		if m := ownPath.FindStringSubmatch(word); m != nil && !tag.MatchString(word) && !r.hasPath(m[1]) {
			list = append(list, "the path "+word)
		} else if goFile.MatchString(word) && m == nil && word[0] != '_' && !r.hasFile(word) {
			list = append(list, "the file "+word)
		}
	}
	for _, m := range makeTarget.FindAllStringSubmatch(code, -1) {
		if !slices.Contains(r.targets, m[1]) {
			list = append(list, "the target make "+m[1])
		}
	}
	code = strings.ReplaceAll(code, `\|`, "|") // in a table
	for _, m := range goTestRun.FindAllStringSubmatch(strings.Trim(code, "`"), -1) {
		if fault := r.testFault(strings.Fields(m[1]), beside); fault != "" {
			list = append(list, fault)
		}
	}
	return list
}

// hasPath reports whether a path from the top of the workspace exists. It may have wildcards.
func (r *repository) hasPath(name string) bool {
	if hypothetical := strings.IndexByte(name, '<'); hypothetical >= 0 {
		name = path.Dir(name[:hypothetical] + "x")
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	if name = strings.TrimSuffix(name, "."); r.dirs[name] || strings.Contains(name, "{") {
		return true
	}
	return slices.ContainsFunc(r.files, func(file string) bool {
		matches, _ := path.Match(name, file)
		return matches
	})
}

// hasFile reports whether a file with this name, or a path with this suffix, exists. It may have wildcards.
func (r *repository) hasFile(name string) bool {
	name = path.Clean(strings.TrimLeft(name, "./"))
	parts := strings.Count(name, "/") + 1
	return slices.ContainsFunc(r.files, func(file string) bool {
		words := strings.Split(file, "/")
		matches, _ := path.Match(name, strings.Join(words[max(len(words)-parts, 0):], "/"))
		return matches
	})
}

// testFault returns the fault in the arguments of go test: a missing package, or no test that -run selects.
func (r *repository) testFault(args []string, beside string) string {
	var pattern string
	packages := []string{}
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		switch {
		case flag == "-run" || flag == "-fuzz" || flag == "-bench":
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			pattern = strings.Trim(value, `'"`)
		case strings.HasPrefix(args[i], "."):
			packages = append(packages, strings.TrimRight(args[i], ",`"))
		}
	}
	if pattern == "" || strings.Contains(pattern, "<") {
		return ""
	}
	selects, err := regexp.Compile(strings.Split(pattern, "/")[0])
	if err != nil {
		return fmt.Sprintf("the pattern -run %s: %v", pattern, err)
	}
	for dir, tests := range r.tests {
		if !slices.ContainsFunc(tests, selects.MatchString) {
			continue
		}
		inside := func(p string) bool { return selectsFolder(p, dir, beside) }
		if len(packages) == 0 || slices.ContainsFunc(packages, inside) {
			return ""
		}
	}
	return fmt.Sprintf("a test that -run %s selects in %v", pattern, packages)
}

// selectsFolder reports whether a package of the command line may be in a directory. The command may run in any parent
// directory. For the package "." the surrounding text must name the directory: "cd integration/docs" or "in
// `integration/docs`".
func selectsFolder(p, dir, beside string) bool {
	p, recursive := strings.CutSuffix(p, "...")
	p = strings.Trim(p, "./")
	switch {
	case recursive:
		return p == "" || strings.Contains("/"+dir+"/", "/"+p+"/")
	case p == "":
		return regexp.MustCompile(`(?:cd |in \x60)(?:\.\./)*` + regexp.QuoteMeta(dir) + `/?(?:\x60|\s|$)`).MatchString(beside)
	}
	return strings.HasSuffix("/"+dir, "/"+p)
}

// Paths, make targets and tests that documents name exist. TestManuals_CommandsExist checks gslbctl commands.
// Changelogs may name removed objects.
func TestDocs_NamedPathsTargetsAndTestsExist(t *testing.T) {
	r := readRepository(t)
	for _, file := range r.files {
		if path.Ext(file) != ".md" || path.Base(file) == "CHANGELOG.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range codeSpans.FindAllIndex(text, -1) {
			beside := string(text[max(at[0]-40, 0):min(at[1]+40, len(text))])
			for _, fault := range r.faults(string(text[at[0]:at[1]]), beside) {
				line := 1 + strings.Count(string(text[:at[0]]), "\n")
				t.Errorf("%s:%d: %s does not exist: correct it, or write its hypothetical part in <angle brackets>", file,
					line, fault)
			}
		}
	}
}

func TestDocs_AReferenceWithoutItsObjectIsFound(t *testing.T) {
	r := readRepository(t)
	for code, want := range map[string]int{
		"`overwatch/reload.go`": 0, "`overwatch/nothing.go`": 1, "`reload.go`": 0, "`nowhere_test.go`": 1,
		"`integration/contract*_test.go`": 1, "`overwatch/internal/state/config/validate_*.go`": 0,
		"`shared/api/<topic>.go`": 0, "`shared/none/<topic>.go`": 1, "`make test`": 0, "`make it-so`": 1,
		"`go test -run TestDocs_ ./docs`": 0, "`go test -run TestNothing_ ./docs`": 1, "`go test -run TestDocs_ ./api`": 1,
		"`cd integration/docs && go test -run TestDocs_ .`": 0, "`go test -run TestFailover .` in `integration/`": 1,
	} {
		if faults := r.faults(code, code); len(faults) != want {
			t.Errorf("%s: %v, want %d", code, faults, want)
		}
	}
}
