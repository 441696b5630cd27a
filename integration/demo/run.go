package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"gslb.internal/integration/harness"
)

// startBound is the time limit for the start of the cluster, with a margin for a busy machine.
const startBound = 60 * time.Second

// toldLines is the number of lines of each program that are shown after a failure.
const toldLines = 15

// Options selects the form of the demo.
type Options struct {
	Binaries string // directory with the programs; Run builds missing programs
	Plain    bool   // a transcript, even on a terminal
	In, Out  *os.File
}

// Run builds missing programs, starts the cluster, shows it until ctx ends or the viewer quits, and then removes all
// processes and files. If a promise of the transcript is broken, it prints the events in order and returns an error.
func Run(ctx context.Context, o Options) (err error) {
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(o.Out, "%6.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	scratch, err := os.MkdirTemp("", "gslb-demo-")
	if err != nil {
		return fmt.Errorf("directory for the programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	say("looking for the programs, building missing programs")
	b, err := harness.Build(ctx, o.Binaries, scratch)
	if err != nil {
		return err
	}
	s, err := newScene(b)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = errors.New("interrupted")
		} else if err != nil {
			fmt.Fprintln(o.Out, "what happened, in order:")
			s.cluster.Story.Tell(o.Out, toldLines)
		}
		err = errors.Join(err, s.cluster.Close())
		say("all processes ended, all files removed")
	}()
	return s.show(ctx, o, b, say)
}

// show starts the scene and passes it to the live view or to the transcript.
func (s *scene) show(ctx context.Context, o Options, b harness.Binaries, say func(string, ...any)) error {
	bound, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	if err := s.start(bound, say); err != nil {
		return err
	}
	if o.Plain || !interactive(o.In, o.Out) {
		return s.transcript(ctx, say, s.hints(b))
	}
	return s.watchLive(ctx, o, func() []string { return s.hints(b) })
}

func interactive(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
}
