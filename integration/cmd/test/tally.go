package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// The maximum numbers of listed slow tests and packages.
const (
	slowTests    = 15
	slowPackages = 8
)

// tally counts ended tests. A step other than go test is a single test.
type tally struct {
	passed, failed, skipped int
	skips                   []string // skipped tests with their reasons
	tests, packages         []slow
}

// slow is a test or a package, with its duration.
type slow struct {
	name string
	took time.Duration
}

func (t *tally) add(other tally) {
	t.passed += other.passed
	t.failed += other.failed
	t.skipped += other.skipped
	t.skips = append(t.skips, other.skips...)
	t.tests = append(t.tests, other.tests...)
	t.packages = append(t.packages, other.packages...)
}

// line returns a line of text with all counts.
func (t *tally) line() string {
	text := fmt.Sprintf("%d passed, %d failed", t.passed, t.failed)
	if t.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.skipped)
	}
	return text
}

// slowest prints the slowest tests and packages.
func (t *tally) slowest(out io.Writer) {
	show := func(title string, all []slow, count int) {
		slices.SortStableFunc(all, func(a, b slow) int { return cmp.Compare(b.took, a.took) })
		if len(all) > 0 {
			fmt.Fprintln(out, title)
		}
		for _, s := range all[:min(count, len(all))] {
			fmt.Fprintf(out, "  %8s  %s\n", s.took.Round(10*time.Millisecond), s.name)
		}
	}
	show("slowest tests:", t.tests, slowTests)
	show("slowest packages:", t.packages, slowPackages)
}
