package screen

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// Live is a view that refreshes until it ends. It calls its functions sequentially, but from different goroutines.
type Live struct {
	Title    string
	Tabs     []string      // tab names; empty: a view without tabs
	Interval time.Duration // between two refreshes
	Count    int           // number of refreshes until the view ends; 0: unlimited
	Now      func() time.Time
	// Gather returns the picture. It may block until ctx ends. Live does not use the picture after the next refresh.
	Gather func(ctx context.Context) (Picture, error)
	// Trouble returns the printable message for an error of Gather. ends means that the failure ends the view. first is
	// true at the first refresh.
	Trouble func(err error, first bool) (sentence string, ends bool)
	// Actions are keys that change something, for a picture that is Rows.
	Actions []Action
	// Open returns the tab and its filter for what belongs to an object, after Enter. It can be nil.
	Open func(tab int, id string) (to int, filter string, ok bool)
}

// Picture is the result of a refresh.
type Picture interface {
	// Lines returns the lines above the tabs and the lines of a tab; tabs count from 0. If body has several lines, the
	// first line is the table header, which does not scroll.
	Lines(tab int) (top, body []string)
}

// Show shows a live view on a terminal until the user quits, ctx ends, the last refresh is visible, or a failure ends
// the view. It returns only this failure. It restores the terminal when it returns, and when Gather panics.
func Show(ctx context.Context, in, out *os.File, live Live) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(inner, live)
	program := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)()
	_, err := program.Run()
	switch {
	case m.panicked != "":
		panic(m.panicked)
	case ctx.Err() == nil && m.failure != nil:
		return m.failure
	}
	return err
}

// Width returns the number of columns of a terminal, or 0 if the terminal does not report it.
func Width(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}
