// Command test runs the steps of `make test`, `make test-all` and `make test-long`, from the top of the workspace:
//
//	test -bin bin [-only NAMES] [-list] quick|rest|all|long
//
// It prints its progress and the output of each failure immediately. At the end it prints the slowest tests, the
// commands that repeat the failures, and a line of counts. Its exit code is 1 if anything failed.
//
// If CI is "true", a skipped test is a failure, because CI machines have all requirements of the tests. The exceptions
// are skips with the reason `make test-long`, and skips with the reason `make test-all` in a step with -short.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "test:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.bin, "bin", "", "directory of the programs for tests with real processes; empty: built first")
	flags.DurationVar(&o.length, "length", 0,
		"how long each endless run of the plan long takes; 0: 10 minutes, a minute a fuzz target")
	only := flags.String("only", "", "steps to run, with a comma between them; empty: all of the plan")
	list := flags.Bool("list", false, "show the steps of the plan and run nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	stages, err := plan(flags.Arg(0), o)
	if err != nil {
		return err
	}
	if stages, err = pick(stages, *only); err != nil {
		return err
	}
	if *list {
		for _, s := range flatten(stages) {
			fmt.Fprintf(out, "%-12s %s\n", s.name, s.about)
		}
		return nil
	}
	r := &runner{out: out, began: time.Now(), strict: os.Getenv("CI") == "true"}
	return r.all(ctx, stages)
}

// pick returns the stages with only the named steps. only is a comma-separated list of names; empty means all steps.
// pick returns an error for unknown names.
func pick(stages [][]step, only string) (kept [][]step, err error) {
	if only == "" {
		return stages, nil
	}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	for _, stage := range stages {
		var some []step
		for _, s := range stage {
			if wanted[s.name] {
				some = append(some, s)
				delete(wanted, s.name)
			}
		}
		if len(some) > 0 {
			kept = append(kept, some)
		}
	}
	for name := range wanted {
		err = errors.Join(err, fmt.Errorf("-only %s: there is no such step; -list shows them", name))
	}
	return kept, err
}
