package harness

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// keptLines is the number of stored lines per program. The log file of the program has all lines.
const keptLines = 400

// cutLine is the maximum size of a stored line, in bytes.
const cutLine = 4 << 10

// eventSource is the source of lines that the harness adds to the story.
const eventSource = "harness"

// Line is an entry of a Story: an event of the harness, or a line of a program.
type Line struct {
	At     time.Time
	Source string
	Text   string
}

// Story has all events of a cluster, and the last lines of each program.
type Story struct {
	begin time.Time

	mu    sync.Mutex
	lines map[string][]Line
}

func newStory() *Story {
	return &Story{begin: time.Now(), lines: map[string][]Line{}}
}

// Event adds a line of the harness.
func (s *Story) Event(format string, args ...any) {
	s.add(eventSource, fmt.Sprintf(format, args...))
}

// Tail returns the last lines of a source, oldest first, at most n.
func (s *Story) Tail(source string, n int) []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines[source]
	return slices.Clone(lines[max(0, len(lines)-n):])
}

// Tell writes all events and the last perSource lines of each program in chronological order.
func (s *Story) Tell(w io.Writer, perSource int) {
	s.mu.Lock()
	var all []Line
	for source, lines := range s.lines {
		if source != eventSource {
			lines = lines[max(0, len(lines)-perSource):]
		}
		all = append(all, lines...)
	}
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b Line) int { return a.At.Compare(b.At) })
	for _, l := range all {
		fmt.Fprintf(w, "%9.3f s  %-12s %s\n", l.At.Sub(s.begin).Seconds(), l.Source, l.Text)
	}
}

func (s *Story) add(source, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := append(s.lines[source], Line{At: time.Now(), Source: source, Text: text})
	if source != eventSource && len(lines) > 2*keptLines {
		lines = slices.Clone(lines[len(lines)-keptLines:])
	}
	s.lines[source] = lines
}

// output is the writer for a program's standard output and error: it splits them into lines of the story. Only the
// goroutine that copies the program's output writes to it.
type output struct {
	story  *Story
	source string
	rest   []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.rest = append(o.rest, p...)
	for {
		end := bytes.IndexByte(o.rest, '\n')
		if end < 0 && len(o.rest) < cutLine {
			return len(p), nil
		}
		if end < 0 {
			end = cutLine - 1
		}
		o.story.add(o.source, strings.TrimRight(string(o.rest[:end+1]), "\r\n"))
		o.rest = o.rest[end+1:]
	}
}
