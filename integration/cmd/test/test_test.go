package main // inside: it uses goTest, options and plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// module writes a module with a test for each outcome.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.test\n\ngo 1.26\n",
		"ways/x_test.go": `package ways

import "testing"

func TestGood(t *testing.T)    { t.Run("a part", func(t *testing.T) {}) }
func TestBad(t *testing.T)     { t.Run("a part", func(t *testing.T) { t.Error("the reason of the failure") }) }
func TestCannot(t *testing.T)  { t.Skip("this machine has no tap") }
func TestPartly(t *testing.T)  { t.Run("a part", func(t *testing.T) { t.Skip("this machine has no sink") }) }
func TestLong(t *testing.T)    { t.Skip("make test-long runs it") }
func TestSlow(t *testing.T)    { if testing.Short() { t.Skip("make test-all runs it") } }
func FuzzSeeds(f *testing.F)   { f.Add(1); f.Fuzz(func(t *testing.T, n int) { t.Skip() }) }
`,
		"broken/x_test.go": "package broken\n\nvar x int = \"not a number\"\n",
		"gone/x_test.go": `package gone

import (
	"os"
	"testing"
)

func TestGone(t *testing.T) {
	println("the last words of the process")
	os.Exit(3)
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	return dir
}

// ran runs steps sequentially and returns the runner's output.
func ran(t *testing.T, strict bool, steps ...step) (output string, err error) {
	t.Helper()
	var out strings.Builder
	r := &runner{out: &out, began: time.Now(), strict: strict}
	err = r.all(t.Context(), inTurn(steps))
	return out.String(), err
}

// wants checks that the output contains the words and ends with the line of counts.
func wants(t *testing.T, output, counts string, words ...string) {
	t.Helper()
	if lines := strings.Split(strings.TrimSpace(output), "\n"); lines[len(lines)-1] != counts {
		t.Errorf("the last line is %q, want %q", lines[len(lines)-1], counts)
	}
	for _, w := range words {
		if !strings.Contains(output, w) {
			t.Errorf("it does not say %q", w)
		}
	}
	if t.Failed() {
		t.Log(output)
	}
}

func TestRunner_CountsWhatEnded(t *testing.T) {
	dir := module(t)
	s := step{name: "ways", dir: dir, argv: goTest("1m", "-cpu=1", "./ways"), tests: 1}
	output, err := ran(t, false, s)
	if err == nil {
		t.Error("a test failed, and that is no error")
	}
	wants(t, output, "4 passed, 1 failed, 2 skipped", "FAILED example.test/ways TestBad", "the reason of the failure",
		"skipped: TestCannot: x_test.go:7: this machine has no tap",
		"again: go test -count=1 -cpu=1 -run '^TestBad$' example.test/ways", "slowest tests:",
		"  ways: FAILED example.test/ways: 7 tests in ")
	if output, err = ran(t, false, step{name: "good", dir: dir, tests: 1,
		argv: goTest("1m", "-run", "TestGood", "./ways")}); err != nil {
		t.Error(err)
	}
	wants(t, output, "1 passed, 0 failed", "  good: passed example.test/ways: 1 tests in ")
}

// In CI, a skipped test is a failure.
func TestRunner_InCIASkipIsAFailure(t *testing.T) {
	dir := module(t)
	s := step{name: "ways", dir: dir, argv: goTest("1m", "-short", "-skip", "TestBad", "./ways"), tests: 1}
	output, err := ran(t, true, s)
	if err == nil {
		t.Error("it is no error")
	}
	wants(t, output, "2 passed, 2 failed, 2 skipped", "TestCannot was skipped", "TestPartly skipped its part a_part",
		"no sink")
}

func TestRunner_WhatDoesNotRunIsAFailure(t *testing.T) {
	dir := module(t)
	for name, c := range map[string]struct {
		step   step
		counts string
		words  string
	}{
		"does not build": {step{argv: goTest("1m", "./broken"), tests: 1}, "0 passed, 1 failed", "not a number"},
		"exits": {step{argv: goTest("1m", "./gone"), tests: 1}, "0 passed, 1 failed",
			"TestGone has not ended"},
		"has last words": {step{argv: goTest("1m", "./gone"), tests: 1}, "0 passed, 1 failed",
			"the last words of the process"},
		"runs too few": {step{argv: goTest("1m", "-run", "TestGood", "./ways"), tests: 2}, "1 passed, 1 failed",
			"2 at least"},
		"no such package":   {step{argv: goTest("1m", "./nowhere"), tests: 1}, "0 passed, 1 failed", "nowhere"},
		"no such program":   {step{argv: []string{"no-such-program"}}, "0 passed, 1 failed", "no-such-program"},
		"a command fails":   {step{argv: []string{"go", "vet", "./broken"}}, "0 passed, 1 failed", "not a number"},
		"a command is well": {step{argv: []string{"go", "version"}}, "1 passed, 0 failed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.step.name, c.step.dir = "it", dir
			output, err := ran(t, false, c.step)
			if failed := strings.Contains(c.counts, "1 failed"); failed != (err != nil) {
				t.Errorf("error %v", err)
			}
			wants(t, output, c.counts, c.words)
		})
	}
}

func TestPlan_AllIsQuickAndRest(t *testing.T) {
	t.Chdir("../../..")
	names := map[string][]string{}
	for _, name := range []string{"quick", "rest", "all", "long"} {
		stages, err := plan(name, options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range flatten(stages) {
			if s.about == "" || len(s.argv) == 0 {
				t.Errorf("step %q of %s: %+v", s.name, name, s)
			}
			names[name] = append(names[name], s.name)
		}
	}
	if got, want := strings.Join(names["all"], " "),
		strings.Join(append(names["quick"], names["rest"]...), " "); got != want {
		t.Errorf("all is %s, want %s", got, want)
	}
	if _, err := plan("", options{}); err == nil {
		t.Error("no plan is one")
	}
	stages, _ := plan("long", options{})
	if kept, err := pick(stages, "soak, fuzz"); err != nil || len(kept) != 2 {
		t.Errorf("picked %v, %v", kept, err)
	}
	if _, err := pick(stages, "soak,sauk"); err == nil || !strings.Contains(err.Error(), "sauk") {
		t.Errorf("a step that does not exist: %v", err)
	}
}

// The race detector tests every package of the units with goroutines.
func TestConcurrentPackages(t *testing.T) {
	t.Chdir("../../..")
	list, err := concurrentPackages(units)
	if err != nil {
		t.Fatal(err)
	}
	for pkg, want := range map[string]bool{"./overwatch/internal/answer/publish": true, "./agent/internal/monitor": true,
		"./overwatch/internal/answer/dnsserver": true, "./gslbctl/internal/cli": true, "./shared/spelling": false,
		"./overwatch/internal/control/strictjson": false} {
		if slices.Contains(list, pkg) != want {
			t.Errorf("%s: %t, want %t of %q", pkg, !want, want, list)
		}
	}
}

func TestPackagesOf_NamesWhatDoesNotExist(t *testing.T) {
	t.Chdir("../../..")
	where, err := packagesOf(integration, []string{"TestPackagesOf_", "TestFailover_AgentProbe"})
	if err != nil || !slices.Equal(where, []string{"./cmd/test", "./failover"}) {
		t.Errorf("%v, %v", where, err)
	}
	if _, err := packagesOf(integration, []string{"TestPackagesOf_", "TestThatIsNot"}); err == nil ||
		!strings.Contains(err.Error(), "TestThatIsNot") {
		t.Errorf("a test that does not exist: %v", err)
	}
}
