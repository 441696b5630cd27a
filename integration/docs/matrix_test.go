package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

var update = flag.Bool("update", false, "write the generated documents")

const matrixPath = "../faults.md"

// fault is a row of the fault matrix.
type fault struct {
	text  string
	tests map[string][]string // names by folder
}

// TestMatrix_IsGenerated compares the fault matrix with the comments of the tests. A comment has a line "Fault 6." for
// each fault that the test covers. One test of each fault has its text: "Fault 6: The network ...".
func TestMatrix_IsGenerated(t *testing.T) {
	faults := map[int]*fault{}
	for _, file := range readRepository(t).files {
		if strings.HasSuffix(file, "_test.go") {
			readFaults(t, file, faults)
		}
	}
	for i := range len(faults) {
		if f := faults[i+1]; f == nil || f.text == "" {
			t.Fatalf("fault %d of %d has no text: write \"Fault %d: ...\" in the comment of its test", i+1, len(faults), i+1)
		}
	}
	if len(faults) < 38 {
		t.Fatalf("%d faults: comments of tests are missing", len(faults))
	}
	want := matrix(faults)
	if *update {
		testbed.Write(t, matrixPath, 0o644, want)
	}
	if testbed.Read(t, matrixPath) != want {
		t.Error("integration/faults.md differs from the comments of the tests: " +
			"run `go test ./docs -run TestMatrix -update` in integration/")
	}
}

// readFaults adds the faults of the tests in a file.
func readFaults(t *testing.T, file string, faults map[int]*fault) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil,
		parser.ParseComments|parser.SkipObjectResolution)
	if os.IsNotExist(err) {
		return // deleted and not committed
	}
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?ms)^Fault (\d+)(\.$|: (.*?)(?:\n\n|\nFault|\z))`)
	for _, d := range parsed.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		// The end of a text can be the start of the next fault.
		for text := f.Doc.Text(); ; {
			m := line.FindStringSubmatchIndex(text)
			if m == nil {
				break
			}
			number, err := strconv.Atoi(text[m[2]:m[3]])
			if err != nil {
				t.Fatal(err)
			}
			if faults[number] == nil {
				faults[number] = &fault{tests: map[string][]string{}}
			}
			row, folder := faults[number], filepath.Dir(file)
			row.tests[folder] = append(row.tests[folder], f.Name.Name)
			end := m[5]
			if m[6] >= 0 {
				if end = m[7]; row.text != "" {
					t.Errorf("%s: %s: fault %d has a text in another comment", file, f.Name.Name, number)
				}
				row.text = strings.Join(strings.Fields(text[m[6]:end]), " ")
			}
			text = text[end:]
		}
	}
}

// matrix returns the document.
func matrix(faults map[int]*fault) string {
	var b strings.Builder
	b.WriteString("# Fault matrix\n\n" +
		"<!-- Generated from the comments of tests: go test ./docs -run TestMatrix -update -->\n\n" +
		"Each fault has tests with real processes, or in virtual time if only time matters. [README.md](README.md)\n" +
		"describes the invariants that hold in each test.\n\n")
	for i := range len(faults) {
		f := faults[i+1]
		wrap(&b, fmt.Sprintf("%d. **%s**", i+1, f.text))
		for _, folder := range slices.Sorted(maps.Keys(f.tests)) {
			names := slices.Sorted(slices.Values(f.tests[folder]))
			wrap(&b, fmt.Sprintf("    - `%s`: `%s`", folder, strings.Join(names, "`, `")))
		}
	}
	return b.String()
}

// wrap writes an item of a list in lines of at most 120 columns.
func wrap(b *strings.Builder, item string) {
	indent := strings.Repeat(" ", len(item)-len(strings.TrimLeft(item, " -0123456789.")))
	line := item[:len(indent)]
	for i, word := range strings.Fields(item[len(indent):]) {
		switch {
		case i == 0:
		case len(line)+1+len(word) > 120:
			b.WriteString(line + "\n")
			line = indent
		default:
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}
