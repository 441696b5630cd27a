package screen

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// maxText is the maximum number of characters of a typed text.
const maxText = 200

// prompt is a text that the user types in the last line, or a question that y answers.
type prompt struct {
	label      string
	text       string
	isQuestion bool
	typed      func(text string)         // called after each key; nil: nothing
	accept     func(text string) tea.Cmd // called after Enter, or y for a question
	cancel     func()                    // called after Esc; nil: nothing
}

// line returns the last line of the screen.
func (p *prompt) line() string {
	if p.isQuestion {
		return p.label
	}
	return p.label + p.text + "_"
}

// pressPrompt handles a key while a prompt is open.
func (m *model) pressPrompt(key tea.KeyPressMsg) tea.Cmd {
	p := m.prompt
	switch name := key.String(); {
	case name == "ctrl+c":
		return tea.Quit
	case p.isQuestion:
		m.prompt = nil
		if name == "y" || name == "Y" {
			return p.accept("")
		}
		m.message = "Nothing was changed."
		return nil
	case name == "esc":
		m.prompt = nil
		if p.cancel != nil {
			p.cancel()
		}
		return nil
	case name == "enter":
		m.prompt = nil
		return p.accept(strings.TrimSpace(p.text))
	case name == "backspace":
		_, size := utf8.DecodeLastRuneInString(p.text)
		p.text = p.text[:len(p.text)-size]
	case name == "ctrl+u":
		p.text = ""
	}
	p.add(key.Text)
	return nil
}

// add adds a text to the typed text, which has at most maxText characters. A question ignores it.
func (p *prompt) add(text string) {
	if p.isQuestion {
		return
	}
	if utf8.RuneCountInString(p.text+text) <= maxText {
		p.text += text
	}
	if p.typed != nil {
		p.typed(p.text)
	}
}

// openFilter lets the user type the filter of the tab.
func (m *model) openFilter() {
	before, tab := m.filters[m.tab], m.tab
	m.prompt = &prompt{label: "filter: ", text: before,
		typed:  func(text string) { m.filters[tab] = text },
		accept: func(string) tea.Cmd { return nil },
		cancel: func() { m.filters[tab] = before }}
}
