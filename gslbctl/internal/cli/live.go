package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
)

// Screen is a terminal that is taken for a view, until it is closed.
type Screen interface {
	Size() (width, height int)
	Events() <-chan screen.Event
	Draw(lines []string) error
	Close() error
}

// The time between two looks of --watch and watch.
const (
	defaultInterval = 2 * time.Second
	minInterval     = 100 * time.Millisecond
)

// liveFlags say how something is repeated.
type liveFlags struct {
	interval time.Duration
	count    int
}

func (f *liveFlags) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.interval, "interval", defaultInterval, "time between two looks")
	cmd.Flags().IntVar(&f.count, "count", 0, "end after so many looks (default: never)")
}

func (f *liveFlags) check() error {
	switch {
	case f.interval < minInterval:
		return fmt.Errorf("--interval is %s: it must be at least %s", f.interval, minInterval)
	case f.count < 0:
		return fmt.Errorf("--count is %d: it must be above zero, or 0 for no end", f.count)
	}
	return nil
}

// view is something that is looked at again and again. gather asks; the
// picture that it returns belongs to the caller and is not asked for anything
// while another one is gathered.
type view struct {
	title  string
	tabs   []string // their names; none for a view without
	gather func(context.Context) (picture, error)
}

// allTabs is the tab for where there are no keys to choose one with.
const allTabs = -1

// picture is what one look showed: lines that stay on top, and those of a tab.
type picture interface {
	lines(tab int) (top, body []string)
}

// live shows a view until its end: on the whole screen of a terminal, where q
// ends it, or one look below the other.
func (a *app) live(ctx context.Context, v view, f liveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if a.OpenScreen == nil || !a.forPeople() {
		return a.livePlain(ctx, v, f)
	}
	s, err := a.OpenScreen()
	if err != nil {
		return a.livePlain(ctx, v, f)
	}
	defer func() { _ = s.Close() }() // also when something panics
	a.quiet = true
	l := &liveScreen{app: a, view: v, flags: f, screen: s}
	err = l.run(ctx)
	return errors.Join(err, s.Close())
}

// livePlain writes one look after another.
func (a *app) livePlain(ctx context.Context, v view, f liveFlags) error {
	tick := time.NewTicker(f.interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		p, err := v.gather(ctx)
		if ctx.Err() != nil {
			return nil // asked to stop
		}
		if err := a.plainLook(p, err, n == 1, v.title); err != nil {
			return err
		}
		if n == f.count {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// plainLook writes one look. A mistake in the command line ends the first one;
// a node that does not answer may do so the next time.
func (a *app) plainLook(p picture, failed error, first bool, title string) error {
	if failed != nil && first && !passing(failed) {
		return failed
	}
	if a.forPeople() {
		separator := "\n"
		if first {
			separator = ""
		}
		if _, err := fmt.Fprintf(a.Out, "%s%s  %s\n", separator, a.Now().UTC().Format(time.RFC3339), title); err != nil {
			return written(err)
		}
	}
	if failed != nil {
		_, sentence := verdict(failed)
		fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(sentence))
		return nil
	}
	top, body := p.lines(allTabs)
	for _, line := range append(top, body...) {
		if _, err := fmt.Fprintln(a.Out, line); err != nil {
			return written(err)
		}
	}
	return nil
}

// forPeople says whether the output is for people rather than for programs.
func (a *app) forPeople() bool { return a.output == outputTable || a.output == outputWide }

// passing says whether a failure may be gone the next time.
func passing(err error) bool {
	if _, ok := errors.AsType[*api.UnreachableError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*api.Error](err); ok {
		return true
	}
	o, ok := errors.AsType[*outcome](err)
	return ok && o.code != exitWell
}

// watchable gives a command that only looks the flag --watch.
func (a *app) watchable(cmd *cobra.Command) *cobra.Command {
	var f liveFlags
	var watch bool
	once := cmd.RunE
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "look again and again, until q or Ctrl-C")
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !watch {
			if cmd.Flags().Changed("interval") || cmd.Flags().Changed("count") {
				return errors.New("--interval and --count are about --watch, which is not there")
			}
			return once(cmd, args)
		}
		return a.live(cmd.Context(), view{title: cmd.CommandPath(), gather: a.captured(cmd, args, once)}, f)
	}
	return cmd
}

// captured takes what a command prints as a picture.
func (a *app) captured(cmd *cobra.Command, args []string, once func(*cobra.Command, []string) error) func(context.Context) (picture, error) {
	return func(ctx context.Context) (picture, error) {
		cmd.SetContext(ctx)
		return a.capture(func() error { return once(cmd, args) })
	}
}

// capture takes what something prints as a picture. Nothing else may print
// meanwhile.
func (a *app) capture(something func() error) (picture, error) {
	var text bytes.Buffer
	out := a.Out
	a.Out = &text
	err := something()
	a.Out = out
	if o, ok := errors.AsType[*outcome](err); ok && o.sentence == "" {
		err = nil // it has been said in the text
	}
	return printed(text.String()), err
}

// printed is a picture of text.
type printed string

func (p printed) lines(int) (top, body []string) {
	text := strings.TrimSuffix(string(p), "\n")
	if text == "" {
		return nil, nil
	}
	return nil, strings.Split(text, "\n")
}
