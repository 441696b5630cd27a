package console_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"gslb.internal/integration/harness"
)

// The API page is a view of the console, also at the path of the documentation. It needs no token, opens the operation
// in the address, filters, and sends GET requests with the token of the session.
func TestConsole_HasThePageOfTheAPI(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	node := s.nodes[0]
	token := harness.NewToken()
	node.File.API.More = map[string]any{"tokens": map[string]any{"read": map[string]string{"ada": token}}}
	p := newPage(t)
	startAlone(t, node)
	p.open(node.Client.Node(), "overview")
	p.click(".gate a[href='#/api']")
	p.reads("h1", "API")
	p.reads("nav [aria-current]", "API")
	docs := node.Client.Node() + "/api/docs"
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(docs+"#/overview"))
	p.fill("input[name=token]", token)
	p.click("button.main")
	p.reads(".tiles", "0/3")
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(docs+"#getDomains"))
	p.reads("#getDomains[open]", "List domains", "Try it")
	p.click("#getDomains[open] button")
	p.reads("#getDomains pre", "200", shopName)
	p.fill(".filters input", "rollover")
	p.wait("only operations with the word",
		"[...document.querySelectorAll('.operations details:not([hidden])')].length < 10")
	p.axe("an operation of the API")
	if said := p.complaints("401"); len(said) > 0 {
		t.Error(said)
	}
}
