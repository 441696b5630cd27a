package screen

import (
	"context"
	"fmt"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// AnyTab makes an Action available on all tabs.
const AnyTab = -1

// Action is a key that changes something. It asks for a text if it has a Prompt, then calls Prepare, asks the question
// that Prepare returns, and calls the change after y. No other function of the Live runs at the same time.
type Action struct {
	Key  string // as Bubble Tea names it, such as d
	Name string // for the line of keys, such as drain
	Tab  int    // the tab with its objects, or AnyTab for an action without an object
	// Prompt returns the prompt for a text about an object, "" if the action needs no text. It can be nil.
	Prompt func(p Picture, id string) string
	// Prepare checks the action and returns the question and the change. The change returns a message.
	Prepare func(ctx context.Context, p Picture, id, text string) (question string, change Change, err error)
}

// Change makes a change and returns a message about its result.
type Change func(ctx context.Context) (message string, err error)

// prepared is the message after Prepare.
type prepared struct {
	question string
	change   Change
	err      error
}

// changed is the message after a change.
type changed struct {
	message string
	err     error
}

// crashed is the message after a panic of a function of an action, with its reason and stack.
type crashed string

// startAction starts an action for the selected object.
func (m *model) startAction(a *Action) tea.Cmd {
	id := ""
	if a.Tab != AnyTab {
		if id = m.selectedID(); id == "" {
			m.message = "Select a line first: arrows move the selection."
			return nil
		}
	}
	m.message = ""
	if a.Prompt != nil && m.picture != nil {
		if label := a.Prompt(m.picture, id); label != "" {
			m.prompt = &prompt{label: label, accept: func(text string) tea.Cmd { return m.prepare(a, id, text) }}
			return nil
		}
	}
	return m.prepare(a, id, "")
}

func (m *model) prepare(a *Action, id, text string) tea.Cmd {
	picture := m.picture
	return m.run(func() tea.Msg {
		question, change, err := a.Prepare(m.ctx, picture, id, text)
		return prepared{question, change, err}
	})
}

// run calls a function of an action in the background. It waits for a running refresh.
func (m *model) run(call func() tea.Msg) tea.Cmd {
	safe := func() (msg tea.Msg) {
		defer func() {
			if reason := recover(); reason != nil {
				msg = crashed(fmt.Sprintf("%v\n%s", reason, debug.Stack()))
			}
		}()
		return call()
	}
	m.acting = true
	if m.gathering {
		m.queued = safe
		return nil
	}
	return safe
}

// takeQueued returns the function of an action that waited for a refresh, or nil.
func (m *model) takeQueued() tea.Cmd {
	queued := m.queued
	m.queued = nil
	return queued
}

// ask shows the question of a prepared action, or its error.
func (m *model) ask(p prepared) tea.Cmd {
	m.acting = false
	if p.err != nil {
		m.message, _ = m.live.Trouble(p.err, false)
		return m.gather()
	}
	m.prompt = &prompt{label: p.question + " [y/N] ", isQuestion: true, accept: func(string) tea.Cmd {
		return m.run(func() tea.Msg {
			message, err := p.change(m.ctx)
			return changed{message, err}
		})
	}}
	return nil
}

// showResult shows the result of a change and refreshes the picture.
func (m *model) showResult(c changed) tea.Cmd {
	m.acting = false
	m.message = c.message
	if c.err != nil {
		m.message, _ = m.live.Trouble(c.err, false)
	}
	return m.gather()
}
