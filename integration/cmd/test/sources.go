package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// shortTests returns the tests of modules that call testing.Short. They are long runs on a single goroutine, up to ten
// times as slow with the race detector. The steps units and race run them in short form, and the step exact in full.
func shortTests(modules []string) (names []string, err error) {
	for _, module := range modules {
		err := eachTest(module, func(_, name, text string) {
			if strings.Contains(text, "testing.Short()") {
				names = append(names, name)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// packagesOf returns the packages, relative to a module, with tests that have one of the name prefixes. It returns an
// error for a prefix without a test.
func packagesOf(module string, beginnings []string) (patterns []string, err error) {
	found := map[string]bool{}
	err = eachTest(module, func(dir, name, _ string) {
		for _, b := range beginnings {
			if strings.HasPrefix(name, b) {
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

// startsGoroutines matches code that starts a goroutine or shares memory with one.
var startsGoroutines = regexp.MustCompile(`(?m)\bgo (func\b|[\w.]+\()|\.Go\(|"sync(/atomic)?"|synctest|httptest|` +
	`net/http|t\.Parallel|RunParallel`)

// concurrentPackages returns the packages of modules, relative to the top, with tests and with code that starts
// goroutines or shares memory. In the tests of the other packages, the race detector finds no races.
func concurrentPackages(modules []string) (patterns []string, err error) {
	for _, module := range modules {
		dirs := map[string]bool{}
		if err := eachTest(module, func(dir, _, _ string) { dirs[filepath.Join(module, dir)] = true }); err != nil {
			return nil, err
		}
		for dir := range dirs {
			files, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				return nil, err
			}
			for _, name := range files {
				text, err := os.ReadFile(name)
				if err != nil {
					return nil, err
				}
				if startsGoroutines.Match(text) {
					patterns = append(patterns, "./"+filepath.ToSlash(dir))
					break
				}
			}
		}
	}
	slices.Sort(patterns)
	return patterns, nil
}

// eachTest calls f for each test of a module, with the directory of its package in the module, its name, and its text
// up to the next function.
func eachTest(module string, f func(dir, name, text string)) error {
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != module {
			if _, nested := os.Stat(filepath.Join(path, "go.mod")); nested == nil {
				return fs.SkipDir // another module
			}
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(module, filepath.Dir(path))
		for _, text := range strings.Split("\n"+string(file), "\nfunc ")[1:] {
			if name, _, _ := strings.Cut(text, "("); strings.HasPrefix(name, "Test") {
				f(dir, name, text)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking for tests, from the top of the workspace: %w", err)
	}
	return nil
}
