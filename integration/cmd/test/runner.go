package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tick is the time between two progress lines of a step.
const tick = 15 * time.Second

// grace is the time limit for the end of an interrupted step.
const grace = 20 * time.Second

// runner runs the steps of a plan. One goroutine calls all methods. The steps of a stage run concurrently and share the
// fields that mu protects.
type runner struct {
	out    io.Writer
	began  time.Time
	strict bool // a skipped test is a failure, except for tests of the plan long

	mu     sync.Mutex // protects out and the counts
	total  tally
	cpu    time.Duration
	failed []string // commands that repeat failures
}

// all runs the stages, even after failures, and returns an error if anything failed.
func (r *runner) all(ctx context.Context, stages [][]step) error {
	number, count := 0, len(flatten(stages))
	for _, stage := range stages {
		var running sync.WaitGroup
		for _, s := range stage {
			number++
			r.say("step %d of %d, %s: %s", number, count, s.name, s.about)
			running.Go(func() { r.one(ctx, s) })
		}
		running.Wait()
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
	}
	return r.conclude()
}

// one runs a step to its end and adds its results.
func (r *runner) one(ctx context.Context, s step) {
	began := time.Now()
	seen := newResults(s, r.strict, func(f failure) { r.say("FAILED %s\n%s", f.what, indented(f.output)) },
		func(line string) { r.say("  %s: %s", s.name, line) })
	var words lockedBuffer
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.env...)
	cmd.Stderr, cmd.Stdout = &words, &words
	// A separate process group, so that an interrupted test also ends its child processes.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel, cmd.WaitDelay = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }, grace
	switch {
	case s.live:
		cmd.Stdout, cmd.Stderr = r.out, r.out
	case s.tests > 0:
		cmd.Stdout = &lines{take: func(line []byte) { seen.line(line, &words) }}
	}
	stop := r.report(s, seen)
	err := cmd.Run()
	stop()
	seen.end(err, words.String())
	var cpu time.Duration
	if state := cmd.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	r.add(s, seen, time.Since(began), cpu)
}

// report prints a progress line for a step every tick, until stop is called.
func (r *runner) report(s step, seen *results) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case now := <-ticker.C:
				if !s.live {
					r.say("  %s: %s", s.name, seen.progress(now))
				}
			}
		}
	}()
	return func() { close(over); <-done }
}

// add prints the outcome of a step and adds its results to the total.
func (r *runner) add(s step, seen *results, took, cpu time.Duration) {
	r.say("  %s took %s (%s of processor time): %s", s.name, round(took), round(cpu), seen.tally.line())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.add(seen.tally)
	r.cpu += cpu
	for _, f := range seen.failures {
		r.failed = append(r.failed, f.again)
	}
}

// conclude prints the slowest tests, the reasons of skips, the commands that repeat failures, and the counts. It
// returns an error if anything failed.
func (r *runner) conclude() error {
	var text bytes.Buffer
	r.total.slowest(&text)
	for _, t := range r.total.skips {
		fmt.Fprintf(&text, "skipped: %s\n", t)
	}
	for _, again := range r.failed {
		fmt.Fprintf(&text, "again: %s\n", again)
	}
	fmt.Fprintf(&text, "took %s, %s of processor time\n%s\n", round(time.Since(r.began)), round(r.cpu), r.total.line())
	_, _ = r.out.Write(text.Bytes())
	if r.total.failed > 0 {
		return fmt.Errorf("%d failed: see FAILED above", r.total.failed)
	}
	return nil
}

// say prints a line that begins with the time since the start.
func (r *runner) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := time.Since(r.began)
	fmt.Fprintf(r.out, "%02d:%02d %s\n", int(t.Minutes()), int(t.Seconds())%60, fmt.Sprintf(format, args...))
}

func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Second)
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}

// lines is a writer that calls take with each whole line.
type lines struct {
	rest []byte
	take func([]byte)
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.take(line)
		l.rest = rest
	}
}

// lockedBuffer is a buffer that two writers may share.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
