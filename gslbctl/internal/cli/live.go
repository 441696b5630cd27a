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

// The time between two refreshes of --watch and watch.
const (
	defaultInterval = 2 * time.Second
	minInterval     = 100 * time.Millisecond
)

// liveFlags are the flags of watch and of --watch.
type liveFlags struct {
	interval time.Duration
	count    int
}

func (f *liveFlags) add(cmd *cobra.Command) {
	spanVar(cmd.Flags(), &f.interval, "interval", defaultInterval, "time between two looks")
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

// allTabs asks a picture for the lines of all its tabs, one below the other.
const allTabs = -1

// live shows a view, of which the caller gives Title, Tabs and Gather, until its end: on the whole screen where there
// is a terminal, else one look below the other.
func (a *app) live(ctx context.Context, v screen.Live, f liveFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if a.ShowLive == nil || !a.forPeople() {
		return a.livePlain(ctx, v, f)
	}
	a.quiet = true
	v.Interval, v.Count, v.Now, v.Trouble = f.interval, f.count, a.Now, a.trouble
	return a.ShowLive(ctx, v)
}

// trouble returns, for the live screen, why a look failed, and whether the failure
// ends the view: a mistake in the command line ends it at the first look.
func (a *app) trouble(err error, first bool) (sentence string, ends bool) {
	_, sentence = explain(err)
	return render.Paint(render.Printable(sentence), render.Bad, a.colour()), first && !mayPass(err)
}

// livePlain writes one look after another.
func (a *app) livePlain(ctx context.Context, v screen.Live, f liveFlags) error {
	tick := time.NewTicker(f.interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		p, err := v.Gather(ctx)
		if ctx.Err() != nil {
			return nil // asked to stop
		}
		if err := a.plainLook(p, err, n == 1, v.Title); err != nil {
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
func (a *app) plainLook(p screen.Picture, failed error, first bool, title string) error {
	if failed != nil && first && !mayPass(failed) {
		return failed
	}
	if a.forPeople() {
		separator := "\n"
		if first {
			separator = ""
		}
		if err := a.say(separator + a.Now().UTC().Format(time.RFC3339) + "  " + title + "\n"); err != nil {
			return err
		}
	}
	if failed != nil {
		_, sentence := explain(failed)
		fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(sentence))
		return nil
	}
	top, body := p.Lines(allTabs)
	for _, line := range append(top, body...) {
		if err := a.say(line + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// forPeople reports whether the output is for people rather than for programs.
func (a *app) forPeople() bool { return a.output == outputTable || a.output == outputWide }

// mayPass reports whether a later attempt may succeed.
func mayPass(err error) bool {
	if _, ok := errors.AsType[*api.UnreachableError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*api.Error](err); ok {
		return true
	}
	o, ok := errors.AsType[*outcome](err)
	return ok && o.code != exitWell
}

// watchable adds --watch, --interval and --count to a command that changes nothing.
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
		gather := func(ctx context.Context) (screen.Picture, error) {
			cmd.SetContext(ctx)
			return a.capture(func() error { return once(cmd, args) })
		}
		return a.live(cmd.Context(), screen.Live{Title: cmd.CommandPath(), Gather: gather}, f)
	}
	return reading(cmd)
}

// capture calls print and returns its output as a picture. Nothing else may
// print meanwhile.
func (a *app) capture(print func() error) (screen.Picture, error) {
	var text bytes.Buffer
	out := a.Out
	a.Out = &text
	err := print()
	a.Out = out
	if o, ok := errors.AsType[*outcome](err); ok && o.sentence == "" {
		err = nil // it has been said in the text
	}
	return printed(text.String()), err
}

// printed is a picture of a text that a command has printed.
type printed string

// Lines returns the text as the only tab.
func (p printed) Lines(int) (top, body []string) {
	text := strings.TrimSuffix(string(p), "\n")
	if text == "" {
		return nil, nil
	}
	return nil, strings.Split(text, "\n")
}
