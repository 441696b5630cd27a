package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// shortTests returns the tests of modules that have a short form: those that ask testing.Short. They are long runs of
// one goroutine, some ten times as slow with the race detector, and run whole without it.
func shortTests(modules []string) (names []string, err error) {
	for _, module := range modules {
		err := filepath.WalkDir(module, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && asksShort(f) {
					names = append(names, f.Name.Name)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for tests with a short form from the top of the workspace: %w", err)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
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
