//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options holds the checked flags of a run.
type options struct {
	bin     string
	rounds  int
	seconds float64
	rates   []float64 // queries per second at the steady rates
	names   []int
	servers []string
	base    string // base of the ratios
	shape   shape
	flat    bool    // measure only numbers of names
	restart int     // queries per second; measure only restarts
	cold    int     // number of restarts without a service manager; measure only these
	places  string  // geolocation database of these restarts
	changes bool    // measure only changes of health
	failing bool    // measure only failovers
	share   float64 // fraction of a core; measure only overload
	objects int     // measure only replication, with so many objects
	rate    float64
	env     string

	// Limits of the failover benchmark: names of faults, separated by commas, and the name of a contestant; empty is all.
	faults, contestant string
	copies             int // names per fault and round
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == loadCommand {
		os.Exit(loadMain(os.Args[2:]))
	}
	o, err := readFlags()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	work := run
	switch {
	case o.flat:
		work = flat
	case o.changes:
		work = changes
	case o.failing:
		work = failover
	case o.share > 0:
		work = overload
	case o.objects > 0:
		work = func(ctx context.Context, o options) error { return replicate(ctx, o, o.objects) }
	case o.cold > 0:
		work = func(ctx context.Context, o options) error { return restartCold(ctx, o, o.cold) }
	case o.restart > 0:
		work = func(ctx context.Context, o options) error { return restart(ctx, o, o.restart) }
	}
	if err := work(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func readFlags() (o options, err error) {
	flag.StringVar(&o.bin, "bin", "bin", "directory with gslb-overwatch")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each server")
	flag.Float64Var(&o.seconds, "seconds", 2, "duration of a measurement in seconds")
	flag.IntVar(&o.shape.sockets, "sockets", 8, "client sockets")
	flag.IntVar(&o.shape.window, "window", 32, "queries in flight per socket")
	before := flag.String("against", "",
		"directory with another gslb-overwatch; it is measured in the same run, as rows named ...-before")
	flag.IntVar(&o.restart, "restart", 0,
		"only restart gslb-overwatch under so many queries a second and count the lost queries")
	flag.IntVar(&o.cold, "cold", 0,
		"instead of all else, restart one of three nodes so often without a service manager and probe it")
	flag.StringVar(&o.places, "places", "", "with -cold: geolocation database (MMDB) of the node; empty: it has none")
	flag.BoolVar(&o.flat, "flat", false,
		"instead of all else, keep ours up with each number of names and ask them in turns")
	flag.BoolVar(&o.changes, "changes", false,
		"instead of all else, measure what changes of health cost a node with the last number of names")
	flag.BoolVar(&o.failing, "failover", false,
		"only measure the time from a failure of a backend to the last answer with it")
	flag.StringVar(&o.faults, "faults", "", "with -failover: only these columns of its table, separated by commas")
	flag.StringVar(&o.contestant, "only", "", "with -failover: only this row of its table")
	flag.IntVar(&o.copies, "copies", 1, "with -failover: names per fault in a round")
	flag.Float64Var(&o.share, "overload", 0,
		"instead of all else, ask ours for more than it can answer with this part of a core, such as 0.1")
	flag.IntVar(&o.objects, "replication", 0,
		"instead of all else, measure replication: a change, so many objects on a wiped node, an idle cluster")
	flag.Float64Var(&o.rate, "rate", 20000, "queries a second meanwhile")
	flag.StringVar(&o.env, "env", "",
		"with -changes: environments of nodes to compare, such as \"GOGC=100;GOGC=200\"; an empty one is as it ships")
	rates := flag.String("rates", "2000,20000", "also measure at these steady rates, in queries a second; empty for none")
	names := flag.String("names", "10,1000,100000", "number of served names")
	servers := flag.String("servers", "", "only these, of: "+strings.Join(allNames(), " "))
	flag.StringVar(&o.base, "base", usualBase, "the server that ratios refer to")
	flag.Parse()
	if *before != "" {
		bin, err := filepath.Abs(*before)
		if err != nil {
			return o, err
		}
		all = append(all, against(bin)...)
	}
	for _, text := range strings.Split(*names, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxNames {
			return o, fmt.Errorf("-names %q: want numbers from 1 to %d", text, maxNames)
		}
		o.names = append(o.names, n)
	}
	for _, text := range strings.FieldsFunc(*rates, func(r rune) bool { return r == ',' }) {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || rate < 1 {
			return o, fmt.Errorf("-rates %q: want numbers from 1", text)
		}
		o.rates = append(o.rates, rate)
	}
	o.servers = allNames()
	if *servers != "" {
		o.servers = strings.Split(*servers, ",")
		for _, name := range o.servers {
			if !slices.Contains(allNames(), name) {
				return o, fmt.Errorf("-servers %q: there is %s", name, strings.Join(allNames(), ", "))
			}
		}
	}
	if !slices.Contains(o.servers, o.base) && o.base != usualBase {
		return o, fmt.Errorf("-base %q: it is not among the servers that are measured", o.base)
	}
	if o.rounds < 1 || o.seconds <= 0 || o.shape.sockets < 1 || o.shape.window < 1 {
		return o, errors.New("-rounds, -seconds, -sockets and -window: want numbers above 0")
	}
	o.bin, err = filepath.Abs(o.bin)
	return o, err
}

// tell prints the time and the conditions of the measurement.
func (o options) tell() {
	fmt.Printf("%s, %d cores, load %s, %d rounds of %g s, %d sockets x %d in flight\n",
		time.Now().Format(time.DateTime), cores(), load(), o.rounds, o.seconds, o.shape.sockets, o.shape.window)
}

// run makes all measurements and prints a table per number of names.
func run(ctx context.Context, o options) error {
	scratch, err := os.MkdirTemp("", "gslb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	o.tell()
	for _, names := range o.names {
		results := map[string]*result{}
		for round := range o.rounds {
			for _, s := range all {
				if !slices.Contains(o.servers, s.name) {
					continue
				}
				r := results[s.name]
				if r == nil {
					r = &result{}
					results[s.name] = r
				}
				if r.skipped != "" {
					continue
				}
				dir := filepath.Join(scratch, fmt.Sprintf("%s-%d-%d", s.name, names, round))
				one, err := measure(ctx, o, s, names, dir)
				switch {
				case ctx.Err() != nil:
					return ctx.Err()
				case err != nil:
					r.skipped = err.Error()
				default:
					r.samples = append(r.samples, one)
				}
				_ = os.RemoveAll(dir)
			}
		}
		report(os.Stdout, names, o.base, o.servers, results)
		reportSteady(os.Stdout, o.rates, o.base, o.servers, results)
	}
	return nil
}
