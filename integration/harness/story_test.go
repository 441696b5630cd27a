package harness // inside: it uses cutLine, keptLines and newStory

import (
	"fmt"
	"strings"
	"testing"
)

func TestStory_TellsEventsAndOutputInTheOrderOfTime(t *testing.T) {
	s := newStory()
	out := &output{story: s, source: "ow-1"}
	s.Event("first")
	fmt.Fprint(out, "sec")
	fmt.Fprint(out, "ond\r\nthird\nunfin")
	s.Event("fourth")
	var told strings.Builder
	s.Tell(&told, 10)
	var got []string
	for line := range strings.Lines(told.String()) {
		fields := strings.Fields(line)
		got = append(got, strings.Join(fields[2:], " "))
	}
	if want := "harness first,ow-1 second,ow-1 third,harness fourth"; strings.Join(got, ",") != want {
		t.Errorf("told %q, want %q", strings.Join(got, ","), want)
	}
}

func TestStory_KeepsAllEventsAndOnlyTheNewestOutput(t *testing.T) {
	s := newStory()
	out := &output{story: s, source: "agent-1"}
	for i := range 5 * keptLines {
		fmt.Fprintf(out, "line %d\n", i)
		s.Event("event %d", i)
	}
	lines := s.Tail("agent-1", 5*keptLines)
	if len(lines) < keptLines || len(lines) > 2*keptLines {
		t.Errorf("%d lines are kept, want %d to %d", len(lines), keptLines, 2*keptLines)
	}
	if want := fmt.Sprintf("line %d", 5*keptLines-1); lines[len(lines)-1].Text != want {
		t.Errorf("the newest line is %q, want %q", lines[len(lines)-1].Text, want)
	}
	if events := s.Tail(eventSource, 10*keptLines); len(events) != 5*keptLines {
		t.Errorf("%d events are kept, want %d", len(events), 5*keptLines)
	}
}

func TestStory_OutputWithoutLineEndsIsCutAndBounded(t *testing.T) {
	s := newStory()
	out := &output{story: s, source: "mad"}
	for range 10 {
		fmt.Fprint(out, strings.Repeat("x", cutLine/2))
	}
	if len(out.rest) > cutLine {
		t.Errorf("%d bytes wait for a line end, allowed are %d", len(out.rest), cutLine)
	}
	if n := len(s.Tail("mad", 100)); n != 5 {
		t.Errorf("%d lines, want 5", n)
	}
}
