package settingstest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// comments are the comments of struct fields, by directory and then by "Type.Field".
type comments map[string]map[string]string

// of returns the comment above a field of a struct of this repository, on one line.
func (c comments) of(t *testing.T, of reflect.Type, field string) string {
	t.Helper()
	dir := filepath.Join(root(t), strings.TrimPrefix(of.PkgPath(), "gslb.internal/"))
	if c[dir] == nil {
		c[dir] = commentsIn(t, dir)
	}
	return c[dir][of.Name()+"."+field]
}

// root returns the directory of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.work in the directories above")
		}
		dir = filepath.Dir(dir)
	}
}

func commentsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					for _, ident := range f.Names {
						found[spec.Name.Name+"."+ident.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
					}
				}
			}
			return false
		})
	}
	return found
}
