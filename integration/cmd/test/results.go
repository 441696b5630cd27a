package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of `go test -json`: see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

// failure is a failure of a step, with its output and the command that repeats it.
type failure struct {
	what   string
	output string
	again  string // command that repeats it
}

// results follows the output of a step and counts tests. Only tests of the top level count: a subtest is a part of its
// test.
type results struct {
	step   step
	strict bool
	tell   func(failure) // called immediately for each failure
	report func(string)  // called with the result of each package
	began  time.Time

	mu       sync.Mutex
	tally    tally
	failures []failure
	running  map[key]time.Time
	output   map[key]*strings.Builder // output of tests and packages in progress
	broken   map[string]bool          // packages with a printed failure
	over     int                      // number of ended packages
	tests    map[string]int           // ended tests, by package
}

// key identifies a test, or a package if test is empty.
type key struct{ pkg, test string }

func newResults(s step, strict bool, tell func(failure), report func(string)) *results {
	return &results{
		step: s, strict: strict, tell: tell, report: report, began: time.Now(), tests: map[string]int{},
		running: map[key]time.Time{}, output: map[key]*strings.Builder{}, broken: map[string]bool{},
	}
}

// line parses a line of the output of go test. Lines that are not events are written to words.
func (r *results) line(line []byte, words io.Writer) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(words, "%s\n", line)
		return
	}
	r.take(e)
}

func (r *results) take(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	top, below, isBelow := strings.Cut(e.Test, "/")
	at := key{e.Package, top}
	switch e.Action {
	case "run", "cont":
		if !isBelow {
			r.running[at] = time.Now()
		}
	case "pause":
		if !isBelow {
			delete(r.running, at)
		}
	case "output", "build-output":
		if e.Action == "build-output" {
			at = builtPackage(e)
		}
		if r.output[at] == nil {
			r.output[at] = &strings.Builder{}
		}
		r.output[at].WriteString(e.Output)
	case "build-fail":
		r.fail(builtPackage(e), "does not build")
	case "pass", "fail", "skip":
		if isBelow {
			r.below(e, at, below)
			return
		}
		r.ended(e, at)
	}
}

// builtPackage returns the key of the package that a build event is about. ImportPath is "pkg" or "pkg [pkg.test]"; the
// package precedes the blank.
func builtPackage(e event) key {
	path, _, _ := strings.Cut(e.ImportPath, " ")
	return key{path, ""}
}

// below handles the end of a subtest. A subtest that is skipped in CI is a failure, like a skipped test: a skipped
// check proves nothing.
func (r *results) below(e event, at key, part string) {
	if e.Action == "skip" && r.strict && !strings.HasPrefix(at.test, "Fuzz") && !r.leftOver(at) {
		r.fail(at, "skipped its part "+part+": CI machines must meet its requirements")
	}
}

// ended processes and counts the end of a test or a package.
func (r *results) ended(e event, at key) {
	took := time.Duration(e.Elapsed * float64(time.Second))
	delete(r.running, at)
	if at.test == "" {
		r.over++
		r.unended(at)
		if e.Action == "fail" && !r.broken[at.pkg] {
			r.fail(at, "failed")
		}
		if e.Action != "skip" { // no test files
			outcome := "passed"
			if r.broken[at.pkg] {
				outcome = "FAILED"
			}
			r.report(fmt.Sprintf("%s %s: %d tests in %s", outcome, short(at.pkg), r.tests[at.pkg], round(took)))
			r.tally.packages = append(r.tally.packages, slow{at.pkg, took})
		}
		delete(r.output, at)
		return
	}
	r.tests[at.pkg]++
	r.tally.tests = append(r.tally.tests, slow{short(at.pkg) + " " + at.test, took})
	switch {
	case e.Action == "fail":
		r.fail(at, "")
	case e.Action == "skip" && r.strict && !r.leftOver(at):
		r.fail(at, "was skipped: CI machines must meet its requirements")
	case e.Action == "skip":
		r.tally.skipped++
		r.tally.skips = append(r.tally.skips, at.test+": "+reason(r.said(at)))
	case !r.told(at):
		r.tally.passed++
	}
	delete(r.output, at)
}

// unended moves the output of unfinished tests to their package. A process that dies, by a panic or a deadlock, prints
// the reason in the output of the running test, and there is no event for the end of that test.
func (r *results) unended(pkg key) {
	var words strings.Builder
	byName := func(a, b key) int { return strings.Compare(a.test, b.test) }
	for _, at := range slices.SortedFunc(maps.Keys(r.running), byName) {
		if at.pkg == pkg.pkg {
			fmt.Fprintf(&words, "%s has not ended:\n%s", at.test, r.said(at))
			delete(r.running, at)
			delete(r.output, at)
		}
	}
	if words.Len() > 0 {
		words.WriteString(r.said(pkg))
		r.output[pkg] = &words
	}
}

// leftOver reports whether a skipped test names another step that runs it: a step of longer runs, or the step that
// follows the short forms.
func (r *results) leftOver(at key) bool {
	said := r.said(at)
	return strings.Contains(said, "make test-long") ||
		strings.Contains(said, "make test-all") && slices.Contains(r.step.argv, "-short")
}

// told reports whether the failure of a test has been counted, for example because a subtest was skipped in CI.
func (r *results) told(at key) bool {
	for _, f := range r.failures {
		if strings.HasPrefix(f.what, short(at.pkg)+" "+at.test+" ") {
			return true
		}
	}
	return false
}

func (r *results) said(at key) string {
	if b := r.output[at]; b != nil {
		return b.String()
	}
	return ""
}

func (r *results) fail(at key, what string) {
	r.broken[at.pkg] = true
	name := strings.Join(strings.Fields(short(at.pkg)+" "+at.test+" "+what), " ")
	r.failed(failure{what: name, output: r.said(at), again: r.again(at)})
}

func (r *results) failed(f failure) {
	r.tally.failed++
	r.failures = append(r.failures, f)
	r.tell(f)
}

// again returns the command that repeats a test, or all tests of a package.
func (r *results) again(at key) string {
	words := append([]string{}, r.step.env...)
	words = append(words, "go", "test", "-count=1")
	for _, flag := range r.step.argv {
		if flag == "-race" || flag == "-short" || strings.HasPrefix(flag, "-cpu=") {
			words = append(words, flag)
		}
	}
	if at.test != "" {
		words = append(words, "-run", "^"+at.test+"$")
	}
	words = append(words, at.pkg)
	for i, w := range words {
		if strings.ContainsAny(w, " ^$|()") {
			words[i] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}

// end handles the end of the step's command. It adds a failure if the command failed and no test did, or if fewer tests
// ran than the step requires.
func (r *results) end(err error, words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := strings.Join(r.step.argv, " ")
	if r.step.dir != "" {
		again = "(cd " + r.step.dir + " && " + strings.Join(slices.Concat(r.step.env, r.step.argv), " ") + ")"
	}
	told := failure{what: r.step.name, output: words, again: again}
	switch {
	case r.step.tests == 0 && err == nil:
		r.tally.passed++
	case err != nil && r.tally.failed == 0:
		told.output += err.Error()
		r.failed(told)
	case r.step.tests > 0 && len(r.tally.tests) < r.step.tests && err == nil:
		told.output += fmt.Sprintf("%d tests ran, there should be %d at least", len(r.tally.tests), r.step.tests)
		r.failed(told)
	}
}

// progress returns a text about the state of the step for a progress line.
func (r *results) progress(now time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf("for %s", round(now.Sub(r.began)))
	if r.step.tests == 0 {
		return text
	}
	text += fmt.Sprintf(", %d packages and %d tests over, %d failed", r.over, len(r.tally.tests), r.tally.failed)
	var longest key
	for at, since := range r.running {
		if longest.pkg == "" || since.Before(r.running[longest]) {
			longest = at
		}
	}
	if longest.pkg != "" {
		text += fmt.Sprintf("; now %s %s for %s", short(longest.pkg), longest.test, round(now.Sub(r.running[longest])))
	}
	return text
}

// short returns the path of a package without the common prefix.
func short(pkg string) string { return strings.TrimPrefix(pkg, "gslb.internal/") }

// reason returns the last line that a skipped test printed: the reason for the skip.
func reason(output string) string {
	var last string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			last = line
		}
	}
	if last == "" {
		return "it does not say why"
	}
	return last
}
