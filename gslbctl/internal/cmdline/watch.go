package cmdline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/screen"
)

// The time between two refreshes of --watch and top.
const (
	defaultInterval = 2 * time.Second
	minInterval     = 100 * time.Millisecond
)

// WatchFlags are the flags of top and of --watch.
type WatchFlags struct {
	Interval time.Duration
	Count    int
}

func (f *WatchFlags) Add(cmd *cobra.Command) {
	SpanVar(cmd.Flags(), &f.Interval, "interval", defaultInterval, "time between two refreshes")
	cmd.Flags().IntVar(&f.Count, "count", 0, "number of refreshes (default unlimited)")
}

func (f *WatchFlags) Check() error {
	switch {
	case f.Interval < minInterval:
		return fmt.Errorf("--interval is %s: it must be at least %s", f.Interval, minInterval)
	case f.Count < 0:
		return fmt.Errorf("--count is %d: it must be above zero, or 0 for no end", f.Count)
	}
	return nil
}

// AllTabs selects the lines of all tabs.
const AllTabs = -1

// Watch shows a view until the view ends. The caller sets Title, Tabs and Gather. On a terminal, the view uses the
// whole screen. Otherwise Watch prints one refresh after another.
func (a *App) Watch(ctx context.Context, v screen.Live, f WatchFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	if a.ShowLive == nil || !a.ForPeople() {
		return a.watchPlain(ctx, v, f)
	}
	a.Quiet = true
	v.Interval, v.Count, v.Now, v.Trouble = f.Interval, f.Count, a.Now, a.Trouble
	return a.ShowLive(ctx, v)
}

// Trouble returns, for the live screen, why a refresh failed, and whether the failure ends the view. A malformed
// command line ends the view.
func (a *App) Trouble(err error, first bool) (sentence string, ends bool) {
	_, sentence = fleet.Explain(err)
	return render.Paint(render.Printable(sentence), render.Bad, a.Color()), first && !fleet.IsTemporary(err)
}

// watchPlain writes one look after another.
func (a *App) watchPlain(ctx context.Context, v screen.Live, f WatchFlags) error {
	tick := time.NewTicker(f.Interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		p, err := v.Gather(ctx)
		if ctx.Err() != nil {
			return nil // interrupted
		}
		if err := a.writeRefresh(p, err, n == 1, v.Title); err != nil {
			return err
		}
		if n == f.Count {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// writeRefresh prints one refresh. It returns a permanent error of the first refresh, such as a malformed command line,
// which ends the view. It prints other errors, because the next refresh may succeed.
func (a *App) writeRefresh(p screen.Picture, failed error, first bool, title string) error {
	if failed != nil && first && !fleet.IsTemporary(failed) {
		return failed
	}
	if a.ForPeople() {
		separator := "\n"
		if first {
			separator = ""
		}
		if err := a.Write(separator + a.Now().UTC().Format(time.RFC3339) + "  " + title + "\n"); err != nil {
			return err
		}
	}
	if failed != nil {
		_, sentence := fleet.Explain(failed)
		fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(sentence))
		return nil
	}
	top, body := p.Lines(AllTabs)
	for _, line := range append(top, body...) {
		if err := a.Write(line + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// Watchable adds --watch, --interval and --count to a read-only command.
func (a *App) Watchable(cmd *cobra.Command) *cobra.Command {
	var f WatchFlags
	var watch bool
	once := cmd.RunE
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "refresh until q or Ctrl-C")
	f.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !watch {
			if cmd.Flags().Changed("interval") || cmd.Flags().Changed("count") {
				return errors.New("--interval and --count require --watch")
			}
			return once(cmd, args)
		}
		gather := func(ctx context.Context) (screen.Picture, error) {
			cmd.SetContext(ctx)
			return a.Capture(func() error { return once(cmd, args) })
		}
		return a.Watch(cmd.Context(), screen.Live{Title: cmd.CommandPath(), Gather: gather}, f)
	}
	return Reading(cmd)
}

// Capture calls print and returns its output as a picture. During the call, no other function may write to the output.
func (a *App) Capture(print func() error) (screen.Picture, error) {
	var text bytes.Buffer
	out := a.Out
	a.Out = &text
	err := print()
	a.Out = out
	if o, ok := errors.AsType[*fleet.Error](err); ok && o.Message == "" {
		err = nil // the text contains the error message
	}
	return printed(text.String()), err
}

// printed is a picture with the output of a command.
type printed string

// Lines returns the text as the only tab.
func (p printed) Lines(int) (top, body []string) {
	text := strings.TrimSuffix(string(p), "\n")
	if text == "" {
		return nil, nil
	}
	return nil, strings.Split(text, "\n")
}
