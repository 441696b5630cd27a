package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// `make test` runs units with the race detector in short, and the whole of those that have a short form without it: the Makefile names each
// of them.
func TestShort_WhatIsShortUnderTheRaceDetectorRunsWholeWithoutIt(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^ALONE := (.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list ALONE")
	}
	alone, found := regexp.MustCompile(string(list[1])), 0
	for _, module := range []string{"shared", "overwatch", "agent", "gslbctl", "packaging"} {
		err := filepath.WalkDir(filepath.Join("..", module), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				f, is := d.(*ast.FuncDecl)
				if !is || !callsShort(f) {
					continue
				}
				if found++; !alone.MatchString(f.Name.Name) || module == "gslbctl" || module == "packaging" {
					t.Errorf("%s: %s has a short form and is not in the list ALONE of the Makefile", path, f.Name.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no test has a short form")
	}
}

func callsShort(f *ast.FuncDecl) (calls bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is && s.Sel.Name == "Short" {
			if pkg, is := s.X.(*ast.Ident); is && pkg.Name == "testing" {
				calls = true
			}
		}
		return !calls
	})
	return calls
}
