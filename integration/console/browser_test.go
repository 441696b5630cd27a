package console_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	browser "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"gslb.internal/integration/harness/testbed"
)

// page is one tab of a browser, with its requests and its error messages.
type page struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in its context

	mu    sync.Mutex
	asked []string // addresses of its requests
	said  []string // errors in its console
}

// newPage starts a separate browser, which ends with the test, and opens an empty tab.
func newPage(t *testing.T) *page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(testbed.Judge(t, "chromium")),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 1000),
		chromedp.WSURLReadTimeout(hang),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Env(testbed.RunMark+"="+os.Getenv(testbed.RunMark), "HOME="+t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(func() {
		_ = chromedp.Cancel(tab) // waits for the browser to end
		closeTab()
	})
	p := &page{t: t, ctx: tab}
	chromedp.ListenTarget(tab, p.hear)
	p.do(log.Enable(), network.Enable())
	return p
}

// hear records the requests and errors of the tab.
func (p *page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.asked = append(p.asked, e.Request.URL)
	case *log.EventEntryAdded:
		p.said = append(p.said, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Error())
	}
}

// complaints returns the errors of the tab that contain none of the expected texts.
func (p *page) complaints(expected ...string) (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.said {
		known := false
		for _, words := range expected {
			known = known || strings.Contains(line, words)
		}
		if !known {
			list = append(list, line)
		}
	}
	return list
}

// do runs actions. It fails only if they hang.
func (p *page) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, hang)
	defer cancel()
	if err := chromedp.Run(p.bounded(ctx), actions...); err != nil {
		p.t.Fatalf("%v\n%s", err, p.text())
	}
}

// bounded returns ctx. Before the tab exists, it returns the page's own context, because the browser lives as long as
// the context of its first use.
func (p *page) bounded(ctx context.Context) context.Context {
	if chromedp.FromContext(p.ctx).Target == nil {
		return p.ctx
	}
	return ctx
}

// beforeEach makes each subsequently loaded page first run a script.
func (p *page) beforeEach(script string) {
	p.t.Helper()
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := browser.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// open loads a view of a node's console.
func (p *page) open(node, view string) {
	p.t.Helper()
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(node+"/#/"+view))
}

// text returns the visible text of the page.
func (p *page) text() (text string) {
	ctx, cancel := context.WithTimeout(p.ctx, hang)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate(`document.body.innerText`, &text))
	return text
}

// wait waits until an expression in the page is true.
func (p *page) wait(what, expression string) {
	p.t.Helper()
	testbed.Until(p.t, hang, what, func(ctx context.Context) error {
		var holds bool
		if err := chromedp.Run(p.ctx, chromedp.Evaluate("!!("+expression+")", &holds)); err != nil {
			return err
		}
		if !holds {
			return fmt.Errorf("the page does not show it:\n%s", p.text())
		}
		return nil
	})
}

// reads waits until an element contains all the texts.
func (p *page) reads(selector string, words ...string) {
	p.t.Helper()
	for _, w := range words {
		p.wait(fmt.Sprintf("%s to read %q", selector, w),
			fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))", selector, w))
	}
}

// click clicks an element when it exists. It clicks no fixed position, because the page may move the element.
func (p *page) click(selector string) {
	p.t.Helper()
	p.wait("a click on "+selector, fmt.Sprintf(
		"(() => { const e = document.querySelector(%q); if (!e || e.disabled) return false; e.click(); return true; })()",
		selector))
}

// fill writes into a field once it is there.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.wait(selector+" to be filled", fmt.Sprintf("(() => { const e = document.querySelector(%q); if (!e) return false; "+
		"e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); "+
		"e.dispatchEvent(new Event('change', {bubbles: true})); "+
		"return true; })()", selector, text))
}
