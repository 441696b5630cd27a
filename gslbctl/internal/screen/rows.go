package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Rows is a Picture with objects that the user can select.
type Rows interface {
	Picture
	// IDs returns the ids of the objects of a tab, one for each line after the table header. Ids are unique in a tab.
	IDs(tab int) []string
}

// content is the text of a tab: lines above the tabs, a table header or none, and lines with the ids of their objects.
// Without ids, lines cannot be selected.
type content struct {
	top, head, lines, ids []string
	of                    [2]int // refresh and tab
}

// read returns the content of the current tab, with the filter applied. It reads each picture once for each tab.
func (m *model) read() content {
	if of := [2]int{m.refreshes, m.tab}; m.cache.of != of || m.cache.lines == nil {
		m.cache = content{of: of}
		if m.picture != nil {
			m.cache.top, m.cache.lines = m.picture.Lines(m.tab)
		}
		if len(m.cache.lines) > 1 {
			m.cache.head, m.cache.lines = m.cache.lines[:1], m.cache.lines[1:]
		}
		if rows, ok := m.picture.(Rows); ok && len(m.cache.head) > 0 {
			m.cache.ids = rows.IDs(m.tab)
		}
	}
	filter := strings.ToLower(m.filters[m.tab])
	if filter == "" {
		return m.cache
	}
	shown := content{top: m.cache.top, head: m.cache.head}
	for i, line := range m.cache.lines {
		if !strings.Contains(strings.ToLower(ansi.Strip(line)), filter) {
			continue
		}
		shown.lines = append(shown.lines, line)
		if m.cache.ids != nil {
			shown.ids = append(shown.ids, m.cache.ids[i])
		}
	}
	return shown
}

// selection returns the index of the selected line of a content. If its object is gone, the line at the previous index
// is selected. It returns -1 if lines cannot be selected.
func (m *model) selection(c *content) int {
	if len(c.ids) == 0 {
		return -1
	}
	s := m.selected[m.tab]
	if at := slices.Index(c.ids, s.id); at >= 0 {
		s.at = at
	}
	s.at = max(0, min(s.at, len(c.ids)-1))
	s.id = c.ids[s.at]
	m.selected[m.tab] = s
	return s.at
}

// selected is the selected line of a tab.
type selected struct {
	id string
	at int // index
}

// selectedID returns the id of the selected object, or "".
func (m *model) selectedID() string {
	c := m.read()
	if m.selection(&c) < 0 {
		return ""
	}
	return m.selected[m.tab].id
}

// moveSelection moves the selection by a number of lines. It returns false if lines cannot be selected.
func (m *model) moveSelection(lines int) bool {
	c := m.read()
	at := m.selection(&c)
	if at < 0 {
		return false
	}
	at = max(0, min(at+lines, len(c.ids)-1))
	m.selected[m.tab] = selected{c.ids[at], at}
	return true
}

// open follows the selected object to another tab, where a filter shows what belongs to it.
func (m *model) open() {
	id := m.selectedID()
	if m.live.Open == nil || id == "" {
		return
	}
	if tab, filter, ok := m.live.Open(m.tab, id); ok {
		m.back = append(m.back, m.tab)
		m.choose(tab)
		m.filters[tab] = filter
	}
}

// goBack removes the filter and returns to the tab from which open came.
func (m *model) goBack() {
	delete(m.filters, m.tab)
	m.message = ""
	if last := len(m.back) - 1; last >= 0 {
		m.choose(m.back[last])
		m.back = m.back[:last]
	}
}
