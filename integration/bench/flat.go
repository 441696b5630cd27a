//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// errNothing means that a server answered no query in a round, for example on an overloaded machine.
var errNothing = errors.New("nothing was answered")

// kept is a gslb-overwatch with a number of names that runs during all rounds of flat.
type kept struct {
	*subject

	spent float64   // seconds of CPU time until the first answer
	costs []float64 // microseconds of CPU per answered query, one per round
}

func (s *kept) String() string { return fmt.Sprintf("%s, %d names", s.server.name, s.names) }

// flat compares the CPU time of an answer by the number of names, and by the build if there are two (-against). All
// servers run during the whole measurement and are queried in rotation. Rounds are therefore short, and other load on
// the machine affects all servers equally.
func flat(ctx context.Context, o options) error {
	scratch, err := os.MkdirTemp("", "gslb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	o.tell()
	var subjects []*kept
	for _, of := range all {
		if of.program != "" || !slices.Contains(o.servers, of.name) {
			continue
		}
		for _, names := range o.names {
			s, err := begin(ctx, o, of, names, filepath.Join(scratch, fmt.Sprintf("%s-%d", of.name, names)))
			if err != nil {
				return fmt.Errorf("%s, %d names: %w", of.name, names, err)
			}
			defer s.run.stop()
			subjects = append(subjects, &kept{subject: s, spent: cpuOf(session(s.run.cmd.Process.Pid))})
		}
	}
	var settling sync.WaitGroup
	for _, s := range subjects {
		settling.Go(func() { settle(s.run.cmd.Process.Pid) })
	}
	settling.Wait()
	for range o.rounds {
		for _, s := range subjects {
			err := s.round(ctx, o)
			for tries := 1; errors.Is(err, errNothing) && tries < 5; tries++ {
				err = s.round(ctx, o)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
	}
	reportFlat(subjects)
	return nil
}

// round runs the load client once and adds the CPU time of an answer to costs.
func (s *kept) round(ctx context.Context, o options) error {
	seen, spent, err := s.cost(ctx, o)
	switch {
	case err != nil:
		return err
	case seen.Wrong > 0:
		return fmt.Errorf("%d answered, %d wrongly", seen.Answered, seen.Wrong)
	case seen.Answered == 0:
		return errNothing
	}
	s.costs = append(s.costs, spent/float64(seen.All)*1e6)
	return nil
}

// processTime returns the CPU time of a process in nanoseconds, including ended threads.
func processTime(pid int) (time.Duration, error) {
	var t unix.Timespec
	// The ID of another process's clock, as in clock_getcpuclockid(3): the scheduler's count, 2.
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// peak returns the maximum resident memory of a process, in MiB.
func peak(pid int) (mebibytes float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	return number(fields[0]) / 1024
}

// reportFlat compares each server with the first server: by round, and by the cheapest round of each, which was least
// affected by other load on the machine.
func reportFlat(subjects []*kept) {
	fmt.Println(
		"\n| server | CPU us/query, median (quartiles) | ratio to the first of the same round, median (quartiles) | least " +
			"us/query | ratio of the least | first answer after s | CPU s until then | MiB at the end | MiB at most |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, s := range subjects {
		var ratios []float64
		for i, cost := range s.costs {
			ratios = append(ratios, cost/subjects[0].costs[i])
		}
		pid := s.run.cmd.Process.Pid
		least := slices.Min(s.costs)
		fmt.Printf("| %s | %s | %s | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f |\n", s, quartiles(s.costs), quartiles(ratios),
			least, least/slices.Min(subjects[0].costs), s.ready.Seconds(), s.spent,
			memory([]int{pid}), peak(pid))
	}
}

func quartiles(values []float64) string {
	sorted := slices.Sorted(slices.Values(values))
	at := func(part float64) float64 { return sorted[int(part*float64(len(sorted)-1)+0.5)] }
	return fmt.Sprintf("%.2f (%.2f-%.2f)", at(0.5), at(0.25), at(0.75))
}
