package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// verdict is the outcome of a run of a target.
type verdict int

const (
	passed     verdict = iota
	found              // an input fails, or the target does not build
	endedEarly         // Go's engine stopped without a finding
)

// judge returns the outcome of a run from the output of go test and its error. If a worker answers late at the end,
// Go's engine ends the target with its own deadline error. Such an error names no failing input and does not count as a
// finding.
func judge(output string, err error) verdict {
	if err == nil {
		return passed
	}
	for _, sign := range []string{"Failing input written", "seed corpus entry", "panic:", "[build failed]"} {
		if strings.Contains(output, sign) {
			return found
		}
	}
	for line := range strings.Lines(output) {
		if strings.TrimSpace(line) == "context deadline exceeded" {
			return endedEarly
		}
	}
	return found
}

// campaign fuzzes targets sequentially.
type campaign struct {
	tries int // maximum runs of a target that ends early
	fuzz  func(context.Context, target) (output string, err error)
	out   io.Writer

	passed, early, again int
	findings             []target
}

// all fuzzes all targets, even after findings, and prints the counts. It returns an error if there was a finding.
func (c *campaign) all(ctx context.Context, targets []target) error {
	began := time.Now()
	for i, t := range targets {
		fmt.Fprintf(c.out, "target %d of %d: %s\n", i+1, len(targets), t)
		if err := c.one(ctx, t); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out,
		"%d targets in %v: %d passed, %d with a finding, %d ended early by Go's engine with nothing found; ",
		len(targets), time.Since(began).Round(time.Second), c.passed, len(c.findings), c.early)
	fmt.Fprintf(c.out, "%d runs were repeated\n", c.again)
	if len(c.findings) == 0 {
		return nil
	}
	for _, t := range c.findings {
		fmt.Fprintf(c.out, "to repeat: (cd %s && go test -run '^$' -fuzz '^%s$' %s)\n", t.module, t.name, t.pkg)
	}
	return fmt.Errorf("%d of %d targets have a finding: see above", len(c.findings), len(targets))
}

// one fuzzes a target. If Go's engine ends the run early, it repeats the run, up to tries runs in total.
func (c *campaign) one(ctx context.Context, t target) error {
	for try := 1; ; try++ {
		began := time.Now()
		output, err := c.fuzz(ctx, t)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		took := time.Since(began).Round(time.Second)
		switch judge(output, err) {
		case passed:
			c.passed++
			fmt.Fprintf(c.out, "    passed in %v: %s\n", took, tally(output))
			return nil
		case found:
			c.findings = append(c.findings, t)
			fmt.Fprintf(c.out, "    a finding after %v:\n%s\n", took, output)
			return nil
		case endedEarly:
			fmt.Fprintf(c.out, "    ended early by Go's engine after %v, nothing found: run %d of %d\n", took, try, c.tries)
			if try == c.tries {
				c.early++
				return nil
			}
			c.again++
		}
	}
}

// progress matches the progress lines of Go's engine.
var progress = regexp.MustCompile(`execs: (\d+).*new interesting: (\d+)`)

// tally returns the number of inputs of a run, from the last progress line in its output.
func tally(output string) string {
	all := progress.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return "no inputs counted"
	}
	last := all[len(all)-1]
	return fmt.Sprintf("%s inputs, %s of them reached something new", last[1], last[2])
}
