package console_test

import (
	"fmt"
	"testing"

	"gslb.internal/integration/harness"
)

// maxClicks is the maximum number of clicks for a task of an operator, from the overview. A form counts as one click.
const maxClicks = 3

// walk is a walk through tasks of an operator. It counts the clicks of each task.
type walk struct {
	*page
	s      *scene
	node   *harness.Node
	clicks int
}

// press clicks an element, and counts the click.
func (w *walk) press(selector string) {
	w.t.Helper()
	w.clicks++
	w.click(selector)
}

// openName opens the page of a name.
func (w *walk) openName(name string) {
	w.t.Helper()
	w.press(fmt.Sprintf("a.name[href='#/names/%s']", name))
	w.reads("h1", name)
}

// form fills fields, clicks the buttons in order, and counts all of it as one click.
func (w *walk) form(fields map[string]string, buttons ...string) {
	w.t.Helper()
	w.clicks++
	for selector, text := range fields {
		w.fill(selector, text)
	}
	for _, b := range buttons {
		w.click(b)
	}
}

// submit is the button of the form in a dialog.
const submit = "dialog footer button"

// edit completes the form of settings, which shows the consequences before it saves them.
func (w *walk) edit(fields map[string]string, shows string) {
	w.t.Helper()
	w.form(fields, submit)
	w.reads("dialog .diff", shows)
	w.click(submit)
	w.wait("the dialog to close", "!document.querySelector('dialog')")
}

// task is a task of an operator. prepare changes the state before the operator opens the overview.
type task struct {
	name    string
	prepare func(t *testing.T, w *walk)
	do      func(w *walk)
}

// An operator completes each task with at most three clicks from the overview, or with one form.
func TestConsole_NeedsThreeClicksForATask(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	s.replicate()
	s.start(t)
	w := &walk{page: p, s: s, node: s.nodes[0]}
	for _, part := range [][]task{tasksOfOutages(), tasksOfBackends(), tasksOfNames(), tasksOfNodes()} {
		for _, task := range part {
			if task.prepare != nil {
				task.prepare(t, w)
			}
			w.open(w.node.Client.Node(), "overview")
			w.clicks = 0
			task.do(w)
			t.Logf("%s: %d clicks", task.name, w.clicks)
			if w.clicks > maxClicks {
				t.Errorf("%s: %d clicks, at most %d are allowed", task.name, w.clicks, maxClicks)
			}
		}
	}
	if said := p.complaints(); len(said) > 0 {
		t.Error(said)
	}
}
