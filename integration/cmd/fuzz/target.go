package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// target is one fuzz target.
type target struct {
	module string // the directory of its module
	pkg    string // the import path of its package
	name   string // the name of its function
}

func (t target) String() string { return t.pkg + " " + t.name }

// find returns the targets of a module that match a pattern, ordered by package and name.
func find(ctx context.Context, module string, pattern *regexp.Regexp) (targets []target, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = module
	var words bytes.Buffer
	cmd.Stderr = &words
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of module %s: %w\n%s", module, err, &words)
	}
	for decoder := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return targets, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the packages of module %s: %w", module, err)
		}
		var names []string
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			inFile, err := fuzzFunctions(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			names = append(names, inFile...)
		}
		slices.Sort(names)
		for _, name := range names {
			if t := (target{module, p.ImportPath, name}); pattern.MatchString(t.String()) {
				targets = append(targets, t)
			}
		}
	}
}

// fuzzFunctions returns the names of the functions of a file that go test takes for fuzz targets.
func fuzzFunctions(file string) (names []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") && len(f.Type.Params.List) == 1 {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}

// fuzz runs a target for a while, and returns what go test printed.
func (t target) fuzz(ctx context.Context, each time.Duration) (string, error) {
	args := []string{"test", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", each.String(), t.pkg}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.module
	output, err := cmd.CombinedOutput()
	return string(output), err
}
