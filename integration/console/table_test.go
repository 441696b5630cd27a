package console_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// Of ten thousand backends the page draws those that can be seen; the keyboard reaches the last of them, and the copy
// has them all.
func TestConsole_TenThousandBackends(t *testing.T) {
	t.Parallel()
	const count = 10_000
	s, p := newScene(t), newPage(t)
	n := s.nodes[0]
	first := netip.MustParseAddr("198.18.0.0")
	for range count {
		first = first.Next()
		n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{Address: first, Port: 80,
			Weight: 100, Service: apiName, HealthCheck: s.Timing.Check()})
	}
	n.File.Overwatch.Validation.Enabled = false
	testbed.Start(t, n)
	if err := n.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.open(n.Client.Node(), "names/"+apiName)
	const drawn = "document.querySelectorAll('[aria-labelledby=backends] tbody tr[aria-rowindex]').length"
	p.wait("a part of the table", drawn+" > 5 && "+drawn+" < 200")
	p.do(chromedp.Focus("[aria-labelledby=backends] .frame"), chromedp.KeyEvent(kb.End))
	p.wait("its last row", fmt.Sprintf("document.querySelector('[aria-labelledby=backends] tr[aria-rowindex=\"%d\"]')", count+1))
	p.do(chromedp.Evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }", nil))
	p.click("[aria-labelledby=backends] button[aria-label^='Copy CSV']")
	p.wait("the copy of all", fmt.Sprintf("window.copied && window.copied.trim().split('\\r\\n').length === %d && "+
		"window.copied.includes('%s:80')", count+1, first))
}
