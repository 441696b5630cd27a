package screen // inside: it uses model and gathered

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// numbered is a picture with a header and numbered lines in each tab.
type numbered struct{ top, body []string }

func (p numbered) Lines(tab int) (top, body []string) {
	return p.top, append([]string{[]string{"HEAD", "OTHER HEAD"}[tab]}, p.body...)
}

// errMistake ends a view at its first refresh; other errors never end one.
var errMistake = errors.New("a mistake")

// started returns a model of a terminal with the given size and a running first refresh.
func started(width, height, count int) *model {
	m := newModel(context.Background(), Live{
		Title: "test", Tabs: []string{"one", "two"}, Interval: time.Second, Count: count, Now: time.Now,
		Gather: func(context.Context) (Picture, error) { return nil, nil },
		Trouble: func(err error, first bool) (string, bool) {
			return err.Error(), first && errors.Is(err, errMistake)
		},
	})
	m.Init()
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

// quits reports whether a command ends the program.
func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, quit := cmd().(tea.QuitMsg)
	return quit
}

func TestModel_KeysScrollAndChooseTabs(t *testing.T) {
	m := started(20, 8, 0)
	m.Update(gathered{picture: numbered{
		top:  []string{"top"},
		body: strings.Split("0 abcdefghijkl;1 b;2 c;3 d;4 e;5 f", ";"),
	}})
	for _, step := range []struct {
		keys            []tea.KeyPressMsg
		shows, showsNot string
	}{
		{nil, "HEAD\n0 abcdefghijkl\n1 b\n2 c\n", "3 d"},
		{pressed(tea.KeyDown), "HEAD\n1 b\n", "0 a"},
		{pressed(tea.KeyEnd), "5 f\n", "2 c"},
		{pressed(tea.KeyUp), "HEAD\n2 c\n", "5 f"},
		{pressed(tea.KeyPgUp), "HEAD\n0 a", "3 d"},
		{pressed(tea.KeySpace), "5 f\n", "2 c"},
		{pressed(tea.KeyHome, tea.KeyRight), "\nghijkl\n", "0 a"},
		{pressed(tea.KeyLeft, tea.KeyLeft), "HEAD\n0 a", ""},
		{pressed(tea.KeyTab), "OTHER HEAD\n0 a", "[1: one]"},
		{typed("1"), "[1: one]", "[2: two]"},
		{typed("2", "4"), "[2: two]", "[1: one]"}, // there is no fourth tab
		{typed("j", "x"), "OTHER HEAD\n1 b", "0 a"},
	} {
		for _, key := range step.keys {
			if _, cmd := m.Update(key); cmd != nil {
				t.Errorf("%s does more than to scroll", key)
			}
		}
		frame := m.View().Content
		if !strings.Contains(frame, step.shows) || step.showsNot != "" && strings.Contains(frame, step.showsNot) ||
			strings.Count(frame, "\n") != 7 {
			t.Errorf("after %v: %q: want %q and not %q", step.keys, frame, step.shows, step.showsNot)
		}
	}
}

func TestModel_FitsEveryTerminal(t *testing.T) {
	m := started(20, 8, 0)
	m.Update(gathered{picture: numbered{top: []string{"top"}, body: []string{"東京です東京です",
		"\x1b[31mred and long\x1b[m"}}})
	for _, height := range []int{1, 2, 3, 4, 8, 50} {
		for _, width := range []int{1, 3, 7, 80} {
			m.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := strings.Split(m.View().Content, "\n")
			if len(lines) != height {
				t.Errorf("%d lines on a terminal of %d", len(lines), height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Errorf("%q is wider than %d columns", line, width)
				}
			}
		}
	}
	m.Update(tea.WindowSizeMsg{}) // a terminal that reports no size
	if m.width != 80 || m.height != 50 {
		t.Errorf("the size is %dx%d", m.width, m.height)
	}
}

func TestModel_QuitKeys(t *testing.T) {
	for _, key := range append(typed("q", "Q"),
		tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, tea.KeyPressMsg{Code: 'd', Mod: tea.ModCtrl}) {
		if _, cmd := started(80, 24, 0).Update(key); !quits(cmd) {
			t.Errorf("%s does not quit", key)
		}
	}
	if _, cmd := started(80, 24, 0).Update(tea.KeyPressMsg{Code: 'q', Mod: tea.ModAlt}); quits(cmd) {
		t.Error("Alt and q quits")
	}
}

func TestModel_FailureIsShownUntilTheNextRefresh(t *testing.T) {
	m := started(200, 24, 3)
	m.Update(gathered{picture: numbered{body: []string{"line"}}})
	if _, cmd := m.Update(gathered{err: errors.New("node1: gone")}); cmd != nil {
		t.Error("a failure is more than shown")
	}
	if frame := m.View().Content; !strings.Contains(frame, "node1: gone") || !strings.Contains(frame, "\nline") {
		t.Errorf("%q", frame)
	}
	_, cmd := m.Update(gathered{picture: numbered{body: []string{"newer"}}})
	if frame := m.View().Content; strings.Contains(frame, "gone") || !strings.Contains(frame, "newer") {
		t.Errorf("%q", frame)
	}
	if !quits(cmd) || m.failure != nil {
		t.Errorf("the last refresh: quits %v, failure %v", quits(cmd), m.failure)
	}
}

func TestModel_MistakeEndsTheFirstRefreshOnly(t *testing.T) {
	m := started(80, 24, 0)
	if _, cmd := m.Update(gathered{err: errMistake}); !quits(cmd) || !errors.Is(m.failure, errMistake) {
		t.Errorf("a mistake: quits %v, failure %v", quits(cmd), m.failure)
	}
	m = started(80, 24, 0)
	m.Update(gathered{picture: numbered{}})
	if _, cmd := m.Update(gathered{err: errMistake}); cmd != nil || m.failure != nil {
		t.Errorf("a late mistake: failure %v", m.failure)
	}
}

func TestModel_OneRefreshAtATime(t *testing.T) {
	m := started(80, 24, 0)
	if _, cmd := m.Update(typed("r")[0]); cmd != nil {
		t.Error("r refreshes while a refresh runs")
	}
	m.Update(due{})
	if _, cmd := m.Update(gathered{picture: numbered{}}); cmd == nil || !m.gathering {
		t.Error("what is overdue is not refreshed at once")
	}
	m.Update(gathered{picture: numbered{}})
	if m.gathering {
		t.Error("a refresh runs that nobody asked for")
	}
	if _, cmd := m.Update(typed("r")[0]); cmd == nil || !m.gathering {
		t.Error("r does not refresh")
	}
}

func pressed(codes ...rune) []tea.KeyPressMsg {
	var keys []tea.KeyPressMsg
	for _, code := range codes {
		keys = append(keys, tea.KeyPressMsg{Code: code})
	}
	return keys
}

func typed(texts ...string) []tea.KeyPressMsg {
	var keys []tea.KeyPressMsg
	for _, text := range texts {
		keys = append(keys, tea.KeyPressMsg{Code: rune(text[0]), Text: text})
	}
	return keys
}
