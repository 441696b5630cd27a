package screen

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// View draws the whole screen: a title, the lines above the tabs, the tab names, the visible part of the tab, and the
// keys.
func (m *model) View() tea.View {
	lines := []string{m.title()}
	var top, body []string
	if m.picture != nil {
		top, body = m.picture.Lines(m.tab)
	}
	lines = append(lines, top...)
	if len(m.live.Tabs) > 0 {
		lines = append(lines, m.tabs())
	}
	if len(body) > 1 {
		lines = append(lines, m.window(body[0])) // the table header does not scroll
		body = body[1:]
	}
	room := max(1, m.height-len(lines)-1)
	m.row = max(0, min(m.row, len(body)-room))
	shown := body[m.row:min(len(body), m.row+room)]
	for _, line := range shown {
		lines = append(lines, m.window(line))
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:min(len(lines), m.height-1)], m.keys(len(shown), len(body)))
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "")
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

// window returns the part of a line that is visible after horizontal scrolling.
func (m *model) window(line string) string { return ansi.TruncateLeft(line, m.column, "") }

func (m *model) title() string {
	title := m.live.Title + "  every " + m.live.Interval.String()
	switch {
	case m.trouble != "":
		return title + "  " + m.trouble
	case m.picture == nil:
		return title + "  asking ..."
	}
	return title + "  " + m.taken.UTC().Format(time.TimeOnly) + " UTC"
}

func (m *model) tabs() string {
	var names []string
	for i, name := range m.live.Tabs {
		text := fmt.Sprintf("%d %s", i+1, name)
		if i == m.tab {
			text = "[" + text + "]"
		}
		names = append(names, text)
	}
	return strings.Join(names, "  ")
}

// keys returns the last line: the keys, and the range of visible lines if some are hidden.
func (m *model) keys(shown, all int) string {
	keys := "q quit  arrows, space, b scroll  r look now"
	if len(m.live.Tabs) > 0 {
		keys += "  Tab next"
	}
	if shown < all {
		keys += fmt.Sprintf("  lines %d-%d of %d", m.row+1, m.row+shown, all)
	}
	return keys
}
