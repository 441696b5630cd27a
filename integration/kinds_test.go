package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// kindNames maps the names of kinds, as stored and as constants end, to the kinds. Overrides, weights and drains are
// admin states, and a server by host name is a server.
var kindNames = map[string]string{"domain": "domain", "region": "region", "server": "server", "target": "server",
	"mapping": "mapping", "agent": "agent", "setting": "setting", "revocation": "revocation", "lock": "lock",
	"failback": "failback",
	"override": "admin state", "weight": "admin state", "drain": "admin state"}

// kindConstant matches the constants of kinds: KindDomain of the store, OverDomain of overlays, OrderDrain of the API.
var kindConstant = regexp.MustCompile(`^(?:Kind|Over|Order)([A-Z][a-z]+)$`)

// kindCopies are the types with the fields of a kind and another meaning, with the reason.
var kindCopies = map[string]string{
	"shared/api.Backend":              "a running backend: also of agents and of addresses of host names",
	"shared/api.Server":               "a running backend: also of agents and of addresses of host names",
	"gslbctl/internal/imports.Server": "a part of a configuration file that gslbctl writes, in the order of its fields",
	"gslbctl/internal/imports.Check":  "a part of a configuration file that gslbctl writes, in the order of its fields",
}

// sourceFiles calls visit for each Go file of the programs except tests.
func sourceFiles(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	for _, module := range []string{"shared", "overwatch", "agent", "gslbctl"} {
		err := filepath.WalkDir(filepath.Join("..", module), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				visit(strings.TrimPrefix(filepath.ToSlash(path), "../"), parsed)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A switch over kinds requires a change for each new kind. The declarations of the kinds contain their differences.
func TestKinds_NoSwitchOverKinds(t *testing.T) {
	found := map[string]int{}
	sourceFiles(t, func(path string, file *ast.File) {
		if strings.HasPrefix(path, "shared/model/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, is := n.(*ast.SwitchStmt); is && len(kindsOf(s)) > 1 {
				found[path]++
			}
			return true
		})
	})
	for path, count := range found {
		t.Errorf("%s has %d switches over kinds: let the declaration of the kind decide", path, count)
	}
}

// kindsOf returns the kinds that the cases of a switch compare with.
func kindsOf(s *ast.SwitchStmt) map[string]bool {
	kinds := map[string]bool{}
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			if s.Tag != nil {
				addKind(kinds, e)
				continue
			}
			ast.Inspect(e, func(n ast.Node) bool {
				if b, is := n.(*ast.BinaryExpr); is && b.Op == token.EQL {
					addKind(kinds, b.X)
					addKind(kinds, b.Y)
				}
				return true
			})
		}
	}
	return kinds
}

func addKind(kinds map[string]bool, e ast.Expr) {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && kindNames[text] != "" {
			kinds[kindNames[text]] = true
		}
		return
	}
	if m := kindConstant.FindStringSubmatch(name); m != nil && kindNames[strings.ToLower(m[1])] != "" {
		kinds[kindNames[strings.ToLower(m[1])]] = true
	}
}

// Each kind of object has one type. Another struct with most of its fields would need a change for each new field.
func TestKinds_NoTypeExistsTwice(t *testing.T) {
	kinds, others := map[string][]string{}, map[string][]string{}
	sourceFiles(t, func(path string, file *ast.File) {
		for _, d := range file.Decls {
			g, is := d.(*ast.GenDecl)
			if !is {
				continue
			}
			for _, spec := range g.Specs {
				s, is := spec.(*ast.TypeSpec)
				if !is {
					continue
				}
				structure, is := s.Type.(*ast.StructType)
				if !is {
					continue
				}
				fields := fieldNames(structure)
				if strings.HasPrefix(path, "shared/model/") && len(fields) >= 5 {
					kinds[s.Name.Name] = fields
				} else {
					others[filepath.Dir(path)+"."+s.Name.Name] = fields
				}
			}
		}
	})
	if len(kinds) < 3 {
		t.Fatalf("shared/model has only the kinds %v", kinds)
	}
	for kind, fields := range kinds {
		for name, of := range others {
			same := 0
			for _, f := range fields {
				if slices.Contains(of, f) {
					same++
				}
			}
			if same >= 4 && same*2 > len(fields) && kindCopies[name] == "" {
				t.Errorf("%s has %d of %d fields of the kind %s of shared/model: use the type of the kind", name, same, len(fields),
					kind)
			}
		}
	}
}

// fieldNames returns the names of the fields in JSON or YAML.
func fieldNames(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		if f.Tag == nil || len(f.Names) == 0 {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		tag := reflect.StructTag(text)
		for _, key := range []string{"json", "yaml"} {
			if name, _, _ := strings.Cut(tag.Get(key), ","); name != "" && name != "-" {
				names = append(names, name)
				break
			}
		}
	}
	return names
}
