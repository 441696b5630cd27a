// Command fuzz runs every fuzz target of the given modules for a while. Its arguments are the modules' directories:
//
//	fuzz -time 1m overwatch shared
//
// It prints its progress, continues after a finding, and ends with a line of counts. Its exit code is 1 if there was a
// finding. Go writes the failing input into testdata/fuzz of the package; later runs of `go test` use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	each := flags.Duration("time", 10*time.Second, "how long each target is fuzzed")
	tries := flags.Int("tries", 3, "how often a target is run that Go's engine ends before its time without a finding")
	only := flags.String("run", "", "fuzz only targets whose package and name match this `pattern`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-run %s: %w", *only, err)
	}
	if flags.NArg() == 0 || *tries < 1 || *each <= 0 {
		return errors.New("give directories of modules, and -time and -tries above 0: fuzz -time 10s overwatch shared")
	}
	var targets []target
	for _, dir := range flags.Args() {
		found, err := find(dir, pattern)
		if err != nil {
			return err
		}
		targets = append(targets, found...)
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz target matches %q in %v", *only, flags.Args())
	}
	fmt.Fprintf(out, "%d targets, each for %v\n", len(targets), *each)
	c := campaign{
		tries: *tries, out: out,
		fuzz: func(ctx context.Context, t target) (string, error) { return t.fuzz(ctx, *each) },
	}
	return c.all(ctx, targets)
}
