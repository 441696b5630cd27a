package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// shortTests returns the tests of modules that ask testing.Short. They are long runs of one goroutine, some ten times
// as slow with the race detector. With it they run short, and another step runs them whole without it.
func shortTests(modules []string) (names []string, err error) {
	for _, module := range modules {
		err := eachTest(module, func(_ string, f *ast.FuncDecl) {
			if asksShort(f) {
				names = append(names, f.Name.Name)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// packagesOf returns the packages, relative to a module, that have tests whose names begin with one of the beginnings.
// It returns an error for a beginning of no test.
func packagesOf(module string, beginnings []string) (patterns []string, err error) {
	found := map[string]bool{}
	err = eachTest(module, func(dir string, f *ast.FuncDecl) {
		for _, b := range beginnings {
			if strings.HasPrefix(f.Name.Name, b) {
				found[b] = true
				patterns = append(patterns, "./"+filepath.ToSlash(dir))
			}
		}
	})
	for _, b := range beginnings {
		if !found[b] {
			err = errors.Join(err, fmt.Errorf("no test of %s begins with %s", module, b))
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns), err
}

// eachTest calls f for each test of a module, with the directory of its package in it.
func eachTest(module string, f func(dir string, test *ast.FuncDecl)) error {
	err := filepath.WalkDir(module, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(module, filepath.Dir(path))
		for _, d := range file.Decls {
			if test, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(test.Name.Name, "Test") {
				f(dir, test)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking for tests, from the top of the workspace: %w", err)
	}
	return nil
}

func asksShort(f *ast.FuncDecl) (asks bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Short" {
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "testing" {
				asks = true
			}
		}
		return !asks
	})
	return asks
}
