package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// target is a fuzz target.
type target struct {
	module string // directory of its module
	pkg    string // package, relative to the module
	name   string // function name
}

func (t target) String() string { return path.Join(t.module, t.pkg) + " " + t.name }

// find returns the targets of a module that match a pattern, ordered by file and position.
func find(module string, pattern *regexp.Regexp) (targets []target, err error) {
	err = filepath.WalkDir(module, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(module, filepath.Dir(file))
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || len(f.Type.Params.List) != 1 {
				continue // no fuzz target for go test
			}
			if t := (target{module, "./" + filepath.ToSlash(pkg), f.Name.Name}); pattern.MatchString(t.String()) {
				targets = append(targets, t)
			}
		}
		return err
	})
	return targets, err
}

// fuzz runs a target for a while, and returns the output of go test.
func (t target) fuzz(ctx context.Context, each time.Duration) (string, error) {
	args := []string{"test", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", each.String(), t.pkg}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.module
	output, err := cmd.CombinedOutput()
	return string(output), err
}
