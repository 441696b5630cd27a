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
	c := m.read()
	lines := append([]string{m.title()}, c.top...)
	if len(m.live.Tabs) > 0 {
		lines = append(lines, m.tabs())
	}
	bottom := m.bottom()
	room := func() int { return max(1, m.height-len(lines)-len(bottom)-1) }
	var shown int
	if m.help {
		lines = append(lines, m.helpLines()...)
	} else {
		for _, head := range c.head {
			lines = append(lines, m.mark(m.window(head), false, c.ids != nil)) // the table header does not scroll
		}
		lines, shown = m.appendVisible(lines, &c, room())
	}
	for len(lines) < m.height-len(bottom)-1 {
		lines = append(lines, "")
	}
	lines = lines[:max(0, min(len(lines), m.height-len(bottom)-1))]
	lines = append(append(lines, bottom...), m.lastLine(shown, len(c.lines)))
	lines = lines[max(0, len(lines)-m.height):]
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "")
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

// appendVisible appends the lines of a content that fit into the room, and returns their number. The selected line is
// always visible.
func (m *model) appendVisible(lines []string, c *content, room int) (all []string, shown int) {
	at := m.selection(c)
	if at >= 0 {
		m.row = max(min(m.row, at), at-room+1)
	}
	m.row = max(0, min(m.row, len(c.lines)-room))
	visible := c.lines[m.row:min(len(c.lines), m.row+room)]
	for i, line := range visible {
		lines = append(lines, m.mark(m.window(line), m.row+i == at, c.ids != nil))
	}
	return lines, len(visible)
}

// mark returns a line of a tab with objects with a mark if it is selected.
func (m *model) mark(line string, isSelected, hasObjects bool) string {
	switch {
	case !hasObjects:
		return line
	case isSelected:
		return reverse + "> " + ansi.Truncate(ansi.Strip(line), max(0, m.width-2), "") + normal
	}
	return "  " + line
}

// reverse and normal are the control sequences of reverse video and of the default style.
const (
	reverse = "\x1b[7m"
	normal  = "\x1b[m"
)

// bottom returns the lines above the last line: the result of the last action.
func (m *model) bottom() []string {
	switch {
	case m.acting:
		return []string{"working ..."}
	case m.message != "":
		return strings.Split(strings.TrimRight(m.message, "\n"), "\n")
	}
	return nil
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
		text := fmt.Sprintf("%d: %s", i+1, name)
		if i == m.tab {
			text = "[" + text + "]"
		}
		names = append(names, text)
	}
	return strings.Join(names, "   ")
}

// lastLine returns a prompt, or the keys and the range of visible lines if some are hidden.
func (m *model) lastLine(shown, all int) string {
	if m.prompt != nil {
		return m.prompt.line()
	}
	keys := "q quit  arrows, space, b scroll  r look now"
	if len(m.live.Tabs) > 0 {
		keys += "  Tab next"
	}
	if _, rows := m.picture.(Rows); rows {
		keys = m.rowKeys()
	}
	if shown < all && !m.help {
		keys += fmt.Sprintf("  lines %d-%d of %d", m.row+1, m.row+shown, all)
	}
	return keys
}

// rowKeys returns the keys of a tab with objects.
func (m *model) rowKeys() string {
	keys := "q quit  ? keys  / filter  Tab next"
	if filter := m.filters[m.tab]; filter != "" {
		keys = "filter: " + filter + "  Esc all  " + keys
	}
	for _, a := range m.live.Actions {
		if a.Tab == AnyTab || a.Tab == m.tab {
			keys += "  " + a.Key + " " + a.Name
		}
	}
	return keys
}

// helpLines returns the explanation of all keys.
func (m *model) helpLines() []string {
	lines := []string{"", "  arrows, j, k       move the selection", "  space, b           next and previous page",
		"  g, G               first and last line", "  left, right        scroll to the side",
		"  Tab, 1, 2, 3, 4    select a tab", "  Enter              open the selected object",
		"  Esc                remove the filter, go back", "  /                  filter the lines",
		"  r                  refresh now", "  q                  quit"}
	for _, a := range m.live.Actions {
		where := ""
		if a.Tab != AnyTab {
			where = " (" + m.live.Tabs[a.Tab] + ")"
		}
		lines = append(lines, fmt.Sprintf("  %-18s %s%s", a.Key, a.Name, where))
	}
	return lines
}
