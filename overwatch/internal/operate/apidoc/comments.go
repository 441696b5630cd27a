package apidoc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source contains the doc comments and constants of a package, which reflection cannot read.
type source struct {
	types  map[string]string            // doc comment by type
	fields map[string]map[string]string // comment by type and field
	words  map[string][]string          // constants of a string type, in order
}

// readSource reads the Go files of directories, without tests. If two types have the same name, it uses the type of the
// first directory.
func readSource(dirs ...string) (*source, error) {
	var paths []string
	for _, dir := range slices.Backward(dirs) { // a later file replaces the comments of a type
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no Go files in %s: %w", dir, err)
		}
		paths = append(paths, found...)
	}
	s := &source{types: map[string]string{}, fields: map[string]map[string]string{}, words: map[string][]string{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // a source file of this workspace
		if err != nil {
			return nil, fmt.Errorf("reading the source of the API's types: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("reading the source of the API's types: %w", err)
		}
		s.addFile(file)
	}
	return s, nil
}

func (s *source) addFile(file *ast.File) {
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.typeSpec(group, spec)
			case *ast.ValueSpec:
				s.constant(group, spec)
			}
		}
	}
}

func (s *source) typeSpec(group *ast.GenDecl, spec *ast.TypeSpec) {
	name := spec.Name.Name
	comment := spec.Doc
	if comment == nil && len(group.Specs) == 1 {
		comment = group.Doc
	}
	s.types[name] = sentence(comment)
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	fields := map[string]string{}
	for _, f := range structure.Fields.List {
		comment := f.Doc
		if comment == nil {
			comment = f.Comment
		}
		for _, n := range f.Names {
			fields[n.Name] = sentence(comment)
		}
	}
	s.fields[name] = fields
}

// constant adds a constant of a named string type to the values of the type.
func (s *source) constant(group *ast.GenDecl, spec *ast.ValueSpec) {
	of, typed := spec.Type.(*ast.Ident)
	if group.Tok != token.CONST || !typed || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	if word, err := strconv.Unquote(literal.Value); err == nil {
		s.words[of.Name] = append(s.words[of.Name], word)
	}
}

// sentence returns a comment on one line.
func sentence(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}
