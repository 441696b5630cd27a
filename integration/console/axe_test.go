package console_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	browser "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// shots is the directory for screenshots of the views. The screenshots of the manual are in overwatch/docs/console.
// From integration:
//
//	go test ./console -run Axe -shots $PWD/../overwatch/docs/console
var shots = flag.String("shots", "", "write pictures of the console into this directory")

// view is a URL, and text that the loaded view contains.
type view struct{ name, address, words string }

func views() []view {
	return []view{
		{"overview", "overview", "new kernel"}, {"names", "names", "127.0.4.5 100%"},
		{"name", "names/" + shopName, "of its weight is left"}, {"map", "map/eu", "Its backends"},
		{"agents", "agents", "agent-asia-1"}, {"signing", "signing", "replace all DS records of the parent"}, {"changes",
			"changes", "no name gone.test.gslb.test is answered"},
		{"settings", "settings", "bind_address"},
	}
}

// axe-core finds no problem for screen readers and contrast in any view and theme, and each view fits the width of a
// phone.
func TestConsole_PassesAxeInBothThemes(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node, ill := s.nodes[0], false
	if _, err := node.Client.DrainServer(t.Context(), fmt.Sprintf("%s:%s", shopName, s.backends[0].At),
		api.DrainRequest{Duration: "1h", Reason: "new kernel"}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Client.SetOverride(t.Context(), webName, s.backends[1].At.String(),
		api.OverrideRequest{Healthy: &ill, Reason: "bad deploy"}); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Client.BeginRoll(t.Context(), api.RollCreate{Zone: "test.gslb.test."}); err != nil {
		t.Fatal(err)
	}
	const gone = "gone.test.gslb.test"
	_, made := node.Client.CreateDomain(t.Context(), api.DomainChange{"name": gone})
	_, served := node.Client.CreateServer(t.Context(), api.ServerChange{"service": gone, "address": "192.0.2.1",
		"port":   80,
		"region": "eu"})
	if err := errors.Join(made, served, node.Client.DeleteDomain(t.Context(), gone)); err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"light", "dark"} {
		p.open(node.Client.Node(), "")
		p.do(chromedp.Evaluate(fmt.Sprintf("localStorage.setItem('gslb-theme', %q)", theme), nil))
		for _, v := range views() {
			p.show(node, v)
			p.axe(theme + " " + v.name)
			if v.name == "signing" {
				p.reads("main", "active key ", "incoming key ")
			}
			if theme == "light" && v.name != "settings" { // it shows directories of the test
				p.shoot(v.name)
			}
		}
		p.show(node, views()[2])
		p.click("button[aria-label^=Change]")
		p.reads("dialog", "Undrain")
		p.axe(theme + " dialog")
	}
	p.do(emulation.SetDeviceMetricsOverride(390, 844, 2, true))
	for _, v := range views() {
		p.show(node, v)
		p.wait(v.name+" to be as wide as a phone", "document.documentElement.scrollWidth <= 390")
		if v.name == "name" {
			p.shoot("phone")
		}
	}
}

// show opens a view and waits until it is loaded.
func (p *page) show(node *harness.Node, v view) {
	p.t.Helper()
	p.open(node.Client.Node(), v.address)
	p.reads("main", v.words)
}

// axe has axe-core judge what the page shows.
func (p *page) axe(what string) {
	p.t.Helper()
	file, err := os.Open("testdata/axe.min.js.gz")
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		p.t.Fatal(err)
	}
	program, err := io.ReadAll(unpacked)
	if err != nil {
		p.t.Fatal(err)
	}
	var found string
	p.do(chromedp.Evaluate(string(program)+"; 0", nil), chromedp.Evaluate(`axe.run().then((r) => JSON.stringify(
		r.violations.map((v) => ({id: v.id, help: v.help, nodes: v.nodes.slice(0,
			3).map((n) => n.html + ' ' + n.failureSummary)}))))`,
		&found, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range violations {
		p.t.Errorf("%s: %s: %s\n%q", what, v.ID, v.Help, v.Nodes)
	}
}

// shoot writes a screenshot of the page, if screenshots are requested.
func (p *page) shoot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	var picture []byte
	p.do(chromedp.Evaluate("scrollTo(0, 0)", nil), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		picture,
			err = browser.CaptureScreenshot().WithFormat(browser.CaptureScreenshotFormatWebp).WithQuality(80).Do(ctx)
		return err
	}))
	if err := os.WriteFile(filepath.Join(*shots, name+".webp"), picture, 0o600); err != nil {
		p.t.Fatal(err)
	}
}
