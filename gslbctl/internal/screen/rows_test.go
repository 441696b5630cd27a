package screen // inside: it uses model, prepared and changed

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// objects is a picture with an object for each line of its tabs.
type objects [2][]string

func (o objects) Lines(tab int) (top, body []string) { return nil, append([]string{"HEAD"}, o[tab]...) }

func (o objects) IDs(tab int) []string { return o[tab] }

// withObjects returns a model after its first refresh, with an action on the second tab.
func withObjects(action Action) *model {
	m := started(40, 8, 0)
	m.live.Actions = []Action{action}
	m.live.Open = func(tab int, id string) (int, string, bool) { return 1, id, tab == 0 }
	m.Update(gathered{picture: objects{{"a", "b"}, {"a1", "a2", "b1", "b2", "b3", "b4", "b5", "b6", "b7"}}})
	return m
}

// send types keys and returns the command of the last one.
func send(m *model, keys ...tea.KeyPressMsg) (cmd tea.Cmd) {
	for _, key := range keys {
		_, cmd = m.Update(key)
	}
	return cmd
}

func TestRows_SelectFilterOpenAndGoBack(t *testing.T) {
	m := withObjects(Action{Key: "d", Tab: 1})
	for _, step := range []struct {
		keys            []tea.KeyPressMsg
		shows, showsNot string
	}{
		{nil, "> a", "> b"},
		{pressed(tea.KeyDown), "> b", "> a"},
		{pressed(tea.KeyDown), "> b", "> a"}, // the last line
		{pressed(tea.KeyEnter), "filter: b  Esc all", "a1"},
		{typed("G"), "> b7", "b1"}, // the selected line is visible
		{typed("g"), "> b1", "b7"},
		{typed("/", "7"), "filter: b7_", "b1"},
		{pressed(tea.KeyBackspace), "> b7", "filter: b7"}, // the selection stays
		{pressed(tea.KeyEnter), "q quit", "filter: b_"},
		{typed("/", "x"), "HEAD", "b7"},
		{pressed(tea.KeyEscape), "> b7", "filter: bx"},
		{pressed(tea.KeyEscape), "> b", "b7"}, // back to the first tab
		{typed("?"), "move the selection", "> b"},
		{typed("?"), "> b", "move the selection"},
	} {
		send(m, step.keys...)
		frame := m.View().Content
		if !strings.Contains(frame, step.shows) || step.showsNot != "" && strings.Contains(frame, step.showsNot) ||
			strings.Count(frame, "\n") != 7 {
			t.Errorf("after %v: %q: want %q and not %q", step.keys, frame, step.shows, step.showsNot)
		}
	}
	m.Update(gathered{picture: objects{{"0", "a", "b"}, nil}})
	if frame := m.View().Content; !strings.Contains(frame, "> b") {
		t.Errorf("the selection moves with its object: %q", frame)
	}
	m.Update(gathered{picture: objects{{"0", "a"}, nil}})
	if frame := m.View().Content; !strings.Contains(frame, "> a") {
		t.Errorf("an object is gone: %q", frame)
	}
}

func TestActions_AskForATextAndAConfirmation(t *testing.T) {
	asked := ""
	m := withObjects(Action{Key: "d", Name: "drain", Tab: 1,
		Prompt: func(_ Picture, id string) string { return "why " + id + ": " },
		Prepare: func(_ context.Context, _ Picture, id, text string) (string, Change, error) {
			asked = id + " " + text
			return "drain " + id + ".", func(context.Context) (string, error) { return "drained", nil }, nil
		}})
	if send(m, typed("d")...) != nil || m.prompt != nil {
		t.Error("an action runs on another tab")
	}
	send(m, typed("2", "d", "x", "q")...)
	m.Update(tea.PasteMsg{Content: "y\nz"})
	if frame := m.View().Content; !strings.Contains(frame, "why a1: xqy z_") {
		t.Errorf("the text: %q", frame)
	}
	prepare := send(m, pressed(tea.KeyEnter)...)
	if again := send(m, typed("d")...); again != nil {
		t.Error("a second action starts while the first is prepared")
	}
	m.Update(prepare())
	if frame := m.View().Content; asked != "a1 xqy z" || !strings.Contains(frame, "drain a1. [y/N]") {
		t.Errorf("asked %q: %q", asked, frame)
	}
	change := send(m, typed("y")...)
	m.Update(change())
	if frame := m.View().Content; !strings.Contains(frame, "drained") || !m.gathering {
		t.Errorf("after the change: refreshes %v, %q", m.gathering, frame)
	}
}

func TestActions_WaitForARefreshAndReportErrors(t *testing.T) {
	m := withObjects(Action{Key: "u", Name: "undo", Tab: AnyTab,
		Prepare: func(context.Context, Picture, string, string) (string, Change, error) {
			return "", nil, errors.New("node1: refused")
		}})
	m.gather()
	if send(m, typed("u")...) != nil || m.queued == nil {
		t.Error("an action runs beside a refresh")
	}
	_, prepare := m.Update(gathered{picture: objects{{"a"}, nil}})
	if m.Update(due{}); m.gathering {
		t.Error("a refresh runs beside an action")
	}
	if _, cmd := m.Update(prepare()); cmd == nil || !strings.Contains(m.View().Content, "node1: refused") {
		t.Errorf("%q", m.View().Content)
	}
	m.live.Actions[0].Prepare = func(context.Context, Picture, string, string) (string, Change, error) { panic("a fault") }
	m.Update(gathered{picture: objects{{"a"}, nil}})
	if _, cmd := m.Update(send(m, typed("u")...)()); !quits(cmd) || !strings.HasPrefix(m.panicked, "a fault") {
		t.Errorf("a panic: %q", m.panicked)
	}
}
