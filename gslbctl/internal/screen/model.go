package screen

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
)

// sideStep is the number of columns that a side arrow scrolls.
const sideStep = 8

// The size of a terminal that does not report its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

// model is the state of a live view. Bubble Tea calls Update and View from one
// goroutine.
type model struct {
	ctx  context.Context //nolint:containedctx // Bubble Tea's commands get no context of their own.
	live Live

	width, height int
	picture       Picture   // nil before the first
	taken         time.Time // when the picture was gathered
	trouble       string    // why the latest refresh failed, or ""
	tab           int
	row           int // first line of the tab that is shown
	column        int // first column of the tab that is shown

	gathering bool
	overdue   bool // the interval ended while gathering
	refreshes int
	failure   error  // ended the view
	panicked  string // reason and stack of a panic of Gather, which ended the view
}

// lingering is the time from the last refresh to the end of the view. Bubble
// Tea asks the terminal at the start what it supports; an answer that comes after
// the end would be typed into the user's shell.
const lingering = 100 * time.Millisecond

// gathered is the message after a refresh.
type gathered struct {
	picture  Picture
	err      error
	panicked string // reason and stack of a panic
}

// due is the message at the end of an interval.
type due struct{}

func newModel(ctx context.Context, live Live) *model {
	return &model{ctx: ctx, live: live, width: usualWidth, height: usualHeight}
}

// Init starts the first refresh and the first interval.
func (m *model) Init() tea.Cmd { return tea.Batch(m.gather(), m.wait()) }

func (m *model) wait() tea.Cmd {
	return tea.Tick(m.live.Interval, func(time.Time) tea.Msg { return due{} })
}

// gather starts a refresh. The caller makes sure that none is running.
func (m *model) gather() tea.Cmd {
	m.gathering, m.overdue = true, false
	return func() (msg tea.Msg) {
		defer func() {
			if reason := recover(); reason != nil {
				msg = gathered{panicked: fmt.Sprintf("%v\n%s", reason, debug.Stack())}
			}
		}()
		picture, err := m.live.Gather(m.ctx)
		return gathered{picture: picture, err: err}
	}
}

// end ends the view after a short time.
func end() tea.Cmd {
	return tea.Tick(lingering, func(time.Time) tea.Msg { return tea.QuitMsg{} })
}

// Update applies a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			m.width, m.height = msg.Width, msg.Height
		}
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case gathered:
		return m, m.take(msg)
	case due:
		if m.gathering {
			m.overdue = true
			return m, m.wait()
		}
		return m, tea.Batch(m.gather(), m.wait())
	}
	return m, nil
}

// take shows the result of a refresh, and starts the next one if it is overdue.
func (m *model) take(result gathered) tea.Cmd {
	if m.panicked = result.panicked; m.panicked != "" {
		return end()
	}
	m.gathering = false
	m.refreshes++
	if result.err == nil {
		m.picture, m.taken, m.trouble = result.picture, m.live.Now(), ""
	} else {
		var ends bool
		if m.trouble, ends = m.live.Trouble(result.err, m.refreshes == 1); ends {
			m.failure = result.err
			return end()
		}
	}
	switch {
	case m.refreshes == m.live.Count:
		return end()
	case m.overdue:
		return m.gather()
	}
	return nil
}

// press obeys a key, named as Bubble Tea does. Keys without a meaning do
// nothing.
func (m *model) press(key string) tea.Cmd {
	switch key {
	case "q", "Q", "ctrl+c", "ctrl+d":
		return tea.Quit
	case "r", "R", "ctrl+l":
		if !m.gathering {
			return m.gather()
		}
	case "tab":
		m.choose((m.tab + 1) % max(1, len(m.live.Tabs)))
	case "1", "2", "3", "4":
		m.choose(int(key[0] - '1'))
	default:
		m.scroll(key)
	}
	return nil
}

func (m *model) scroll(key string) {
	page := max(1, m.height-3)
	switch key {
	case "up", "k":
		m.row--
	case "down", "j":
		m.row++
	case "pgup", "b":
		m.row -= page
	case "pgdown", "space":
		m.row += page
	case "home", "g":
		m.row, m.column = 0, 0
	case "end", "G":
		m.row = 1 << 30 // View brings it back to the last page
	case "left", "h":
		m.column = max(0, m.column-sideStep)
	case "right", "l":
		m.column += sideStep
	}
}

func (m *model) choose(tab int) {
	if tab < len(m.live.Tabs) && tab != m.tab {
		m.tab, m.row, m.column = tab, 0, 0
	}
}
