package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/screen"
)

// liveScreen is a view on the whole screen of a terminal.
type liveScreen struct {
	app    *app
	view   view
	flags  liveFlags
	screen Screen

	picture picture   // nil before the first
	looked  time.Time // when the picture was taken
	trouble string    // why there is no newer one
	tab     int
	row     int // the first of the tab's lines that is shown
	column  int // the first of their columns
}

// sideStep is how many columns an arrow key moves.
const sideStep = 8

// look is what gathering gave.
type look struct {
	picture  picture
	err      error
	panicked any
}

// run draws until q, the end of ctx, the last look that was asked for or a
// mistake in the command line.
func (l *liveScreen) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	looks := make(chan look, 1)
	gather := func() { go func() { looks <- l.look(ctx) }() }
	gather()
	due := time.NewTimer(l.flags.interval)
	defer due.Stop()
	busy, late, seen := true, false, 0
	for {
		if err := l.draw(); err != nil {
			return written(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case e := <-l.screen.Events():
			switch {
			case e == screen.Quit:
				return nil
			case e == screen.Refresh && !busy:
				busy = true
				gather()
			default:
				l.move(e)
			}
		case got := <-looks:
			busy = false
			if err := l.take(got, seen == 0); err != nil || ctx.Err() != nil {
				return err
			}
			if seen++; seen == l.flags.count {
				return l.draw()
			}
			if late {
				busy, late = true, false
				gather()
			}
		case <-due.C:
			due.Reset(l.flags.interval)
			if late = busy; !busy {
				busy = true
				gather()
			}
		}
	}
}

// look gathers, and hands on a panic, so that the terminal is given back
// before it ends the program.
func (l *liveScreen) look(ctx context.Context) (got look) {
	defer func() { got.panicked = recover() }()
	got.picture, got.err = l.view.gather(ctx)
	return got
}

func (l *liveScreen) take(got look, first bool) error {
	switch {
	case got.panicked != nil:
		panic(got.panicked)
	case got.err != nil && first && !passing(got.err):
		return got.err
	case got.err != nil:
		_, l.trouble = verdict(got.err)
	default:
		l.picture, l.looked, l.trouble = got.picture, l.app.Now(), ""
	}
	return nil
}

// move follows a key.
func (l *liveScreen) move(e screen.Event) {
	_, height := l.screen.Size()
	page := max(1, height-3)
	switch e {
	case screen.Up:
		l.row--
	case screen.Down:
		l.row++
	case screen.PageUp:
		l.row -= page
	case screen.PageDown:
		l.row += page
	case screen.Home:
		l.row, l.column = 0, 0
	case screen.End:
		l.row = 1 << 30 // draw brings it back
	case screen.Left:
		l.column = max(0, l.column-sideStep)
	case screen.Right:
		l.column += sideStep
	case screen.Next:
		l.choose((l.tab + 1) % max(1, len(l.view.tabs)))
	case screen.First, screen.Second, screen.Third, screen.Fourth:
		l.choose(int(e - screen.First))
	}
}

func (l *liveScreen) choose(tab int) {
	if tab < len(l.view.tabs) && tab != l.tab {
		l.tab, l.row, l.column = tab, 0, 0
	}
}

// draw fills the screen: a head, what stays on top, the names of the tabs, as
// much of the tab as there is room for, and a foot.
func (l *liveScreen) draw() error {
	width, height := l.screen.Size()
	lines := []string{l.head()}
	var top, body []string
	if l.picture != nil {
		top, body = l.picture.lines(l.tab)
	}
	lines = append(lines, top...)
	if len(l.view.tabs) > 0 {
		lines = append(lines, l.tabLine())
	}
	// The first line of a tab is the head of its table, which stays.
	var head string
	if len(body) > 1 {
		head, body = body[0], body[1:]
		lines = append(lines, screen.Cut(head, l.column, width))
	}
	room := max(1, height-len(lines)-1)
	l.row = max(0, min(l.row, len(body)-room))
	shown := body[l.row:min(len(body), l.row+room)]
	for _, line := range shown {
		lines = append(lines, screen.Cut(line, l.column, width))
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	return l.screen.Draw(append(lines[:max(0, min(len(lines), height-1))], l.foot(len(shown), len(body))))
}

func (l *liveScreen) head() string {
	head := l.view.title + "  every " + l.flags.interval.String()
	switch {
	case l.trouble != "":
		return head + "  " + render.Paint(render.Printable(l.trouble), render.Bad, l.app.colour())
	case l.picture == nil:
		return head + "  asking ..."
	}
	return head + "  " + l.looked.UTC().Format(time.TimeOnly) + " UTC"
}

func (l *liveScreen) tabLine() string {
	var names []string
	for i, name := range l.view.tabs {
		text := fmt.Sprintf("%d %s", i+1, name)
		if i == l.tab {
			text = "[" + text + "]"
		}
		names = append(names, text)
	}
	return strings.Join(names, "  ")
}

func (l *liveScreen) foot(shown, all int) string {
	foot := "q quit  arrows, space, b scroll  r look now"
	if len(l.view.tabs) > 0 {
		foot += "  Tab next"
	}
	if shown < all {
		foot += fmt.Sprintf("  lines %d-%d of %d", l.row+1, l.row+shown, all)
	}
	return foot
}
