package console_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// old is the promised time until a page marks its values as old after the node stops to answer.
const old = 3 * time.Second

// While the node does not answer, all values are gray and have their age, and no line reports a healthy service. The
// page recovers without an action.
func TestConsole_TurnsGrayWithoutTheNode(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node := s.nodes[0]
	p.open(node.Client.Node(), "overview")
	for _, c := range []struct {
		what     string
		end      func()
		recovers func()
	}{
		{"a node that hangs", func() { testbed.Signal(t, node, syscall.SIGSTOP) },
			func() { testbed.Signal(t, node, syscall.SIGCONT) }},
		{"a killed node", func() { testbed.Kill(t, node) }, func() { testbed.Start(t, node) }},
	} {
		p.reads("h1", "healthy: nothing needs attention")
		p.reads("[aria-labelledby=nodes] .status.good", "online")
		p.wait("values that are current", "!document.documentElement.hasAttribute('data-old')")
		began := time.Now()
		c.end()
		p.wait("old values", "document.documentElement.hasAttribute('data-old')")
		testbed.InTime(t, c.what+" to be shown", old, began, time.Now())
		p.reads("[role=alert]", "The node has not answered")
		p.reads("h1", "unknown: the node does not answer")
		p.reads("[aria-labelledby=nodes] .status.plain", "was online")
		p.wait("an age of each panel and tile", `[...document.querySelectorAll('.panel > header, .tile, .band h1')].
			every((e) => /\d+s old/.test(e.innerText))`)
		p.wait("no value in color", `(() => {
			const dim = getComputedStyle(document.querySelector('.page')).color;
			return [...document.querySelectorAll('.page *')].every((e) => !e.innerText ||
				getComputedStyle(e).color === dim || e.closest('button, input, select'));
		})()`)
		if text := p.text(); strings.Contains(text, "nothing needs attention") {
			t.Errorf("%s: the page shows\n%s", c.what, text)
		}
		c.recovers()
		p.wait("current values", "!document.documentElement.hasAttribute('data-old')")
		p.wait("no alert", "document.querySelector('.pulse.good') && !document.querySelector('.notice.bad, .age')")
	}
}
