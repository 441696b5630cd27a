package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostSleeps is the maximum number of real-time sleeps in all tests.
const mostSleeps = 20

// Tests wait for states. A real-time sleep remains only where no state indicates the end, with a comment that contains
// the reason. The test does not count packages whose tests use virtual time. A real sleep in such a package has a
// comment.
func TestWalls_SleepsAreFewAndHaveAReason(t *testing.T) {
	found := 0
	for _, files := range testFiles(t) {
		for _, s := range sleepsIn(t, files) {
			found++
			if s.reason == "" {
				t.Errorf("%s: a sleep of real time without a reason beside it", s.at)
			}
		}
	}
	if t.Logf("%d sleeps", found); found > mostSleeps {
		t.Errorf("%d sleeps of real time, at most %d may be: wait for a state", found, mostSleeps)
	}
	if found == 0 {
		t.Error("none was found, so this test looks in the wrong place")
	}
}

// A test tests its package from outside. A test file inside the package contains the reason after or above its package
// clause.
func TestWalls_TestsThatLookInsideSayWhy(t *testing.T) {
	var unexplained []string
	for _, files := range testFiles(t) {
		for _, path := range files {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			name := f.Name.Name
			inside := strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(name, "_test") && name != "main"
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if inside && !strings.Contains(string(text), "package "+name+" // ") && f.Doc == nil {
				unexplained = append(unexplained, path)
			}
		}
	}
	if len(unexplained) > 0 {
		t.Errorf("%d files of tests look inside their package and do not say why: write it behind the package clause, "+
			"as in \"package x // inside: it uses y\", or make them package x_test:\n%s",
			len(unexplained), strings.Join(unexplained, "\n"))
	}
}

// sleepAt is one sleep.
type sleepAt struct{ at, reason string }

// sleepsIn lists the real-time sleeps in the files of a package.
func sleepsIn(t *testing.T, paths []string) (sleeps []sleepAt) {
	t.Helper()
	files := token.NewFileSet()
	virtual := false
	var parsed []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			virtual = virtual || i.Path.Value == `"testing/synctest"`
		}
		parsed = append(parsed, f)
	}
	for _, f := range parsed {
		reasons := map[int]string{}
		for _, group := range f.Comments {
			reasons[files.Position(group.Pos()).Line] = group.Text()
		}
		cases := map[ast.Node]bool{} // of selects
		ast.Inspect(f, func(n ast.Node) bool {
			if c, is := n.(*ast.CommClause); is && c.Comm != nil {
				cases[c.Comm] = true
			}
			if !isSleep(n) || cases[n] {
				return true
			}
			at := files.Position(n.Pos())
			if reason := reasons[at.Line]; !virtual || strings.HasPrefix(reason, "real: ") {
				sleeps = append(sleeps, sleepAt{at.String(), reason})
			}
			return true
		})
	}
	return sleeps
}

// isSleep reports whether an expression is time.Sleep, testbed.Pause, or a receive from time.After outside of a select.
func isSleep(n ast.Node) bool {
	called := func(e ast.Expr, names ...string) bool {
		call, is := e.(*ast.CallExpr)
		if !is {
			return false
		}
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			of, is := f.X.(*ast.Ident)
			return is && slices.Contains(names, of.Name+"."+f.Sel.Name)
		case *ast.Ident:
			return slices.Contains(names, f.Name)
		}
		return false
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return called(n, "time.Sleep", "testbed.Pause", "Pause")
	case *ast.ExprStmt:
		receive, is := n.X.(*ast.UnaryExpr)
		return is && receive.Op == token.ARROW && called(receive.X, "time.After")
	}
	return false
}

// testFiles lists the test files of all modules by their directory, including the files of the harness.
func testFiles(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bench" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"), strings.Contains(path, "/harness/") && strings.HasSuffix(path, ".go"):
			found[filepath.Dir(path)] = append(found[filepath.Dir(path)], path)
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	return found
}
