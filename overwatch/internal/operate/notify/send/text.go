package send

import (
	"fmt"
	"strings"
	"time"
)

// title returns a message in one line.
func (m *Message) title() string {
	what := string(m.Severity)
	switch {
	case m.Test:
		what = "test"
	case m.Resolved:
		what = "resolved"
	}
	where := m.Cluster
	if where == "" {
		where = "gslb"
	}
	return fmt.Sprintf("[%s] %s: %s", where, what, m.Key)
}

// lines returns the sentences of a message, one per line, each with its time.
func (m *Message) lines() string {
	var b strings.Builder
	for i := range m.Events {
		e := &m.Events[i]
		_, _ = fmt.Fprintf(&b, "%s %s\n", e.Time.UTC().Format(time.TimeOnly), e.Sentence)
	}
	if m.More > 0 {
		_, _ = fmt.Fprintf(&b, "and %d more\n", m.More)
	}
	return b.String()
}

// cut truncates a text to a number of octets, at the border of a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}
