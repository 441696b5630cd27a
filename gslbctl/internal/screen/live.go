package screen

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// Live is a view that is refreshed until its end. Its functions are called
// from one goroutine at a time, but not always the same one.
type Live struct {
	Title    string
	Tabs     []string      // names of the tabs; none for a view without tabs
	Interval time.Duration // between two refreshes
	Count    int           // the view ends after so many refreshes; 0 means never
	Now      func() time.Time
	// Gather reads the picture. It may block until ctx ends. The picture
	// is not used after the next refresh.
	Gather func(ctx context.Context) (Picture, error)
	// Trouble returns the sentence that is shown when Gather has failed, ready to
	// be printed. ends makes the failure end the view. first is set for the first
	// refresh.
	Trouble func(err error, first bool) (sentence string, ends bool)
}

// Picture is the result of a refresh.
type Picture interface {
	// Lines returns the lines above the tabs and the lines of a tab, counted from
	// 0. The first line of several in body is a table's head, which does not
	// scroll.
	Lines(tab int) (top, body []string)
}

// Show fills a terminal with a live view until the user quits, ctx ends, the
// last refresh is shown or a failure ends the view. Only the last returns that
// failure. The terminal is as before when Show returns or, because Gather does,
// panics.
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

// Width returns the number of columns of a terminal, 0 if the terminal does
// not report it.
func Width(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}
