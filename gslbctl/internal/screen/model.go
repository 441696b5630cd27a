package screen

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// sideStep is the number of columns of a horizontal scroll step.
const sideStep = 8

// Default size of a terminal.
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
	picture       Picture   // nil before the first refresh
	taken         time.Time // time of the picture
	trouble       string    // why the latest refresh failed, or ""
	tab           int
	row           int // first visible line of the tab
	column        int // first visible column of the tab

	cache    content
	filters  map[int]string   // by tab
	selected map[int]selected // by tab
	back     []int            // tabs to which Esc returns
	prompt   *prompt          // nil without a prompt
	message  string           // result of the last action, or ""
	help     bool             // the keys are shown
	acting   bool             // an action runs, or waits for a refresh
	queued   tea.Cmd          // a function of an action that waits for a refresh

	gathering bool
	overdue   bool // the interval ended before Gather returned
	refreshes int
	failure   error  // ended the view
	panicked  string // reason and stack of a panic of Gather
}

// lingering is the time from the last refresh to the end of the view. At the start, Bubble Tea queries the features of
// the terminal. A response after the end of the view would become input of the user's shell.
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
	return &model{ctx: ctx, live: live, width: usualWidth, height: usualHeight, filters: map[int]string{},
		selected: map[int]selected{}}
}

// Init starts the first refresh and the first interval.
func (m *model) Init() tea.Cmd { return tea.Batch(m.gather(), m.wait()) }

func (m *model) wait() tea.Cmd {
	return tea.Tick(m.live.Interval, func(time.Time) tea.Msg { return due{} })
}

// gather starts a refresh. The caller ensures that no other refresh is running.
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

// endSoon ends the view after a short time.
func endSoon() tea.Cmd {
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
		if m.prompt != nil {
			return m, m.pressPrompt(msg)
		}
		return m, m.press(msg.String())
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.add(strings.Join(strings.Fields(msg.Content), " "))
		}
	case gathered:
		return m, m.showRefresh(msg)
	case prepared:
		return m, m.ask(msg)
	case changed:
		return m, m.showResult(msg)
	case crashed:
		m.panicked = string(msg)
		return m, endSoon()
	case due:
		if m.gathering || m.acting {
			m.overdue = true
			return m, m.wait()
		}
		return m, tea.Batch(m.gather(), m.wait())
	}
	return m, nil
}

// showRefresh shows the result of a refresh. It starts the next refresh if the interval has ended.
func (m *model) showRefresh(result gathered) tea.Cmd {
	if m.panicked = result.panicked; m.panicked != "" {
		return endSoon()
	}
	m.gathering = false
	m.refreshes++
	if result.err == nil {
		m.picture, m.taken, m.trouble = result.picture, m.live.Now(), ""
	} else {
		var ends bool
		if m.trouble, ends = m.live.Trouble(result.err, m.refreshes == 1); ends {
			m.failure = result.err
			return endSoon()
		}
	}
	switch {
	case m.refreshes == m.live.Count:
		return endSoon()
	case m.queued != nil:
		return m.takeQueued()
	case m.overdue:
		return m.gather()
	}
	return nil
}

// press handles a key, given by its Bubble Tea name. It ignores unknown keys.
func (m *model) press(key string) tea.Cmd {
	switch key {
	case "q", "Q", "ctrl+c", "ctrl+d":
		return tea.Quit
	case "r", "R", "ctrl+l":
		if !m.gathering && !m.acting {
			return m.gather()
		}
	case "tab":
		m.choose((m.tab + 1) % max(1, len(m.live.Tabs)))
	case "1", "2", "3", "4":
		m.choose(int(key[0] - '1'))
	default:
		if _, rows := m.picture.(Rows); rows {
			return m.pressRows(key)
		}
		m.scroll(key)
	}
	return nil
}

// pressRows handles a key of a picture with objects.
func (m *model) pressRows(key string) tea.Cmd {
	m.help = key == "?" && !m.help
	switch key {
	case "?":
	case "/":
		m.openFilter()
	case "enter":
		m.open()
	case "esc":
		m.goBack()
	default:
		for i := range m.live.Actions {
			if a := &m.live.Actions[i]; a.Key == key && (a.Tab == AnyTab || a.Tab == m.tab) {
				if m.acting {
					return nil
				}
				return m.startAction(a)
			}
		}
		m.scroll(key)
	}
	return nil
}

// scroll moves the selection, or the visible part of a tab without objects.
func (m *model) scroll(key string) {
	page := max(1, m.height-3)
	const far = 1 << 30 // more lines than a tab has; View and move limit it
	switch key {
	case "up", "k":
		m.scrollBy(-1)
	case "down", "j":
		m.scrollBy(1)
	case "pgup", "b":
		m.scrollBy(-page)
	case "pgdown", "space":
		m.scrollBy(page)
	case "home", "g":
		m.column = 0
		m.scrollBy(-far)
	case "end", "G":
		m.scrollBy(far)
	case "left", "h":
		m.column = max(0, m.column-sideStep)
	case "right", "l":
		m.column += sideStep
	}
}

func (m *model) scrollBy(lines int) {
	if !m.moveSelection(lines) {
		m.row = max(0, m.row+lines)
	}
}

func (m *model) choose(tab int) {
	if tab < len(m.live.Tabs) && tab != m.tab {
		m.tab, m.row, m.column = tab, 0, 0
	}
}
