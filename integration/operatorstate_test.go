package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writers are the types through which operator state is written. Package control/changes is their only caller.
var writers = []string{"store.Store", "store.Batch", "registry.Registry", "trust.Trust", "inventory.Inventory",
	"sync.Mutex", "sync.RWMutex"}

// The API decodes requests, calls package control, and encodes responses. The API neither locks nor writes operator
// state. Its only functions that accept an audit entry for a transaction are the functions of definitions, which
// package control implements.
func TestWalls_TheAPIWritesNoOperatorState(t *testing.T) {
	files, err := filepath.Glob("../overwatch/internal/operate/httpapi/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				checkWriter(t, file, n)
			case *ast.SelectorExpr:
				if name := selected(n); name == "store.Batch" {
					t.Errorf("%s uses %s: make the change in package control/changes", file, name)
				}
			}
			return true
		})
	}
}

// checkWriter reports a field, a parameter or a method of an interface that gives access to operator state.
func checkWriter(t *testing.T, file string, field *ast.Field) {
	t.Helper()
	name := ""
	if len(field.Names) > 0 {
		name = field.Names[0].Name
	}
	kind := field.Type
	if star, is := kind.(*ast.StarExpr); is {
		kind = star.X
	}
	switch kind := kind.(type) {
	case *ast.SelectorExpr:
		if slices.Contains(writers, selected(kind)) && name != "sealing" { // a lock of log lines
			t.Errorf("%s has %s of type %s: change operator state through package control/changes", file, name,
				selected(kind))
		}
	case *ast.FuncType:
		for _, p := range kind.Params.List {
			of := p.Type
			if all, is := of.(*ast.Ellipsis); is {
				of = all.Elt
			}
			if s, is := of.(*ast.SelectorExpr); is && selected(s) == "store.Entry" && name != "Define" &&
				name != "DefineWith" && name != "apply" {
				t.Errorf("%s has a function %s that stores with an audit entry: call package control/changes", file,
					name)
			}
		}
	}
}

func selected(s *ast.SelectorExpr) string {
	if x, is := s.X.(*ast.Ident); is {
		return x.Name + "." + s.Sel.Name
	}
	return s.Sel.Name
}

// storeUsers are the files of the API that use types of package state/store. Their number decreases as shared/model
// declares more kinds: no file is added.
var storeUsers = []string{"healthcheck.go", "kind.go", "mappings.go", "regionchange.go", "regions.go",
	"serverchange.go"}

func TestWalls_TheAPIKnowsNoStore(t *testing.T) {
	files, err := filepath.Glob("../overwatch/internal/operate/httpapi/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(storeUsers, filepath.Base(file)) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range parsed.Imports {
			if within(strings.Trim(imported.Path.Value, `"`), internalPath+"state/store") {
				t.Errorf("%s imports state/store: move the code to package control", file)
			}
		}
	}
}
