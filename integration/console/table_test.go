package console_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// timing records the time of the first table row, in milliseconds since the start of the navigation, and the duration
// of the longest task.
const timing = `window.drawn = 0; window.longest = 0;
	new PerformanceObserver((list) => list.getEntries().forEach((e) => {
		window.longest = Math.max(window.longest, e.duration);
	}))		.observe({ type: 'longtask', buffered: true });
	new MutationObserver((_, observer) => {
		if (!document.querySelector('[aria-labelledby=backends] tr[aria-rowindex]')) return;
		window.drawn = performance.now();
		observer.disconnect();
	}).observe(document, { childList: true, subtree: true });`

// scrolling scrolls the whole table in a hundred frames, and resolves to the longest time between two frames.
const scrolling = `new Promise((done) => {
	const frame = document.querySelector('[aria-labelledby=backends] .frame');
	let last = performance.now(), longest = 0, at = 0;
	const step = (now) => {
		longest = Math.max(longest, now - last);
		last = now;
		if (++at > 100) { frame.scrollTop = 0; done(longest); return; }
		frame.scrollTop = frame.scrollHeight * at / 100;
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
})`

// interactive is the promised time until the table of ten thousand backends is visible, in milliseconds.
const interactive = 1000

// smooth is the promised longest time between two frames of scrolling, in milliseconds.
const smooth = 33

// paced logs the load time of the page and the smoothness of scrolling. The limits apply only on an idle machine.
func (p *page) paced(t *testing.T) {
	t.Helper()
	var drawn, longest, frame float64
	p.do(chromedp.Evaluate("window.drawn", &drawn), chromedp.Evaluate(scrolling, &frame,
		func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }),
		chromedp.Evaluate("window.longest", &longest))
	t.Logf("the table was drawn after %.0f ms, the longest task took %.0f ms, the longest frame of scrolling %.0f ms",
		drawn, longest, frame)
	if testbed.Timed && (drawn > interactive || math.Round(frame) > smooth) {
		t.Errorf("promised are %d ms to the table, and %d ms between two frames", interactive, smooth)
	}
}

// The page draws only the visible rows of ten thousand backends. The keyboard reaches the last row, and the copy
// contains all rows.
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
	p.beforeEach(timing)
	p.open(n.Client.Node(), "names/"+apiName)
	const drawn = "document.querySelectorAll('[aria-labelledby=backends] tbody tr[aria-rowindex]').length"
	p.wait("a part of the table", drawn+" > 5 && "+drawn+" < 200")
	p.paced(t)
	// The key starts a smooth scroll. Chromium aborts the scroll if the page draws rows at that time; the test then
	// presses the key again.
	testbed.Until(t, hang, "its last row at the key End", func(ctx context.Context) error {
		p.do(chromedp.Focus("[aria-labelledby=backends] .frame"), chromedp.KeyEvent(kb.End))
		var there bool
		p.do(chromedp.Evaluate(fmt.Sprintf(
			"!!document.querySelector('[aria-labelledby=backends] tr[aria-rowindex=\"%d\"]')", count+1), &there))
		if !there {
			return errors.New("it is not drawn")
		}
		return nil
	})
	p.do(chromedp.Evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }", nil))
	p.click("[aria-labelledby=backends] button[aria-label^='Copy CSV']")
	p.wait("the copy of all", fmt.Sprintf("window.copied && window.copied.trim().split('\\r\\n').length === %d && "+
		"window.copied.includes('%s:80')", count+1, first))
}
