package console_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	browser "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// shots is the directory for screenshots of the views. The screenshots of the manual are in overwatch/docs/console.
// From integration:
//
//	go test ./console -run Axe -shots $PWD/../overwatch/docs/console
var shots = flag.String("shots", "", "write screenshots of the console into this directory")

// view is a URL, and text that the loaded view contains.
type view struct{ name, address, words string }

func views() []view {
	return []view{
		{"overview", "overview", "new kernel"}, {"names", "names", "127.0.4.5 100%"},
		{"name", "names/" + shopName, "of its weight is left"}, {"map", "map/eu", "Its backends"},
		{"agents", "agents", "agent-asia-1"}, {"dnssec", "dnssec", "replace all DS records of the parent"},
		{"events", "events", "delete by 127.0.0.1"}, {"audit", "audit", "created domain gone.test.gslb.test"},
		{"settings", "settings", "bind_address"}, {"api", "api", "List domains"},
	}
}

// look is a theme and a size of the page.
type look struct {
	name, theme   string
	width, height int64
}

func looks() []look {
	return []look{{"", "light", 1280, 1200}, {"-dark", "dark", 1280, 1200}, {"-phone", "light", 390, 1200}}
}

// axe-core finds no problem for screen readers and contrast in any view and theme, and each view fits the width of a
// phone.
func TestConsole_PassesAxeInBothThemes(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	s.replicate()
	s.start(t)
	s.change(t)
	s.ask(t)
	for _, l := range looks() {
		p.look(s.nodes[0], l)
		for _, v := range views() {
			p.show(s.nodes[0], v)
			p.judge(v, l, "")
		}
		p.show(s.nodes[0], views()[2])
		p.click("button[aria-label^=Change]")
		p.reads("dialog", "Undrain")
		p.axe(l.theme + " dialog")
	}
}

// The same is true in a total outage.
func TestConsole_PassesAxeInAnOutage(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	s.replicate()
	s.start(t)
	s.change(t)
	s.ask(t)
	for _, b := range s.backends {
		testbed.Kill(t, b)
	}
	ends := map[string]string{"overview": "no answer for 3 names", "names": "no answer", "name": "does not serve",
		"map": "0 of 6 backends serve"}
	p.open(s.nodes[0].Client.Node(), "overview")
	p.reads("h1", ends["overview"])
	for _, l := range looks() {
		p.look(s.nodes[0], l)
		for _, v := range views() {
			v.words = cmp.Or(ends[v.name], v.words)
			p.show(s.nodes[0], v)
			p.judge(v, l, "-outage")
		}
	}
}

// replicate lets the nodes exchange keys and replicate changes.
func (s *scene) replicate() {
	for i, n := range s.nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{Peers: []string{"http://" + s.nodes[1-i].API.String()},
			PollInterval: time.Second, Timeout: 2 * time.Second, Secret: "a secret that the nodes share in this test"}
	}
}

// change makes changes of all kinds that the views show.
func (s *scene) change(t *testing.T) {
	t.Helper()
	node, ill := s.nodes[0], false
	_, drained := node.Client.DrainServer(t.Context(), fmt.Sprintf("%s:%s", shopName, s.backends[0].At),
		api.DrainRequest{Duration: "1h", Reason: "new kernel"})
	_, overridden := node.Client.SetOverride(t.Context(), webName, s.backends[1].At.String(),
		api.OverrideRequest{Healthy: &ill, Reason: "bad deploy"})
	testbed.Until(t, hang, "a key rollover, after the nodes agree on the keys", func(ctx context.Context) error {
		_, err := node.Client.BeginRoll(ctx, api.RollCreate{Zone: "test.gslb.test."})
		return err
	})
	const gone = "gone.test.gslb.test"
	_, made := node.Client.CreateDomain(t.Context(), api.DomainChange{"name": gone})
	_, served := node.Client.CreateServer(t.Context(), api.ServerChange{"service": gone, "address": "192.0.2.1",
		"port":   80,
		"region": "eu"})
	if err := errors.Join(drained, overridden, made, served,
		node.Client.DeleteDomain(t.Context(), gone)); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, hang, "the removal of the server of "+gone, func(ctx context.Context) error {
		return node.Client.DeleteServer(ctx, gone+":192.0.2.1:80")
	})
}

// asked is the time for which a scene is asked before its screenshots, so that the charts have points.
const asked = 4 * time.Minute

// ask sends queries of clients in three regions until the end of the test, if screenshots are requested.
func (s *scene) ask(t *testing.T) {
	t.Helper()
	if *shots == "" {
		return
	}
	subnets := []string{"198.51.100.0", "203.0.113.0", "203.0.113.0", "127.0.0.0", "127.0.0.0", "127.0.0.0"}
	ctx, client := t.Context(), dns.Client{Timeout: time.Second}
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			query := new(dns.Msg).SetQuestion([]string{shopName, apiName, shopName, webName}[i%4]+".", dns.TypeA)
			query.SetEdns0(1232, false)
			query.IsEdns0().Option = append(query.IsEdns0().Option, &dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1,
				SourceNetmask: 24, Address: net.ParseIP(subnets[i%len(subnets)]).To4()})
			_, _, _ = client.ExchangeContext(ctx, query, s.nodes[0].DNS.String())
			testbed.Pause(ctx, time.Duration(5+10*(i/200%3))*time.Millisecond) // the rate changes, for charts that are not flat
		}
	}()
	testbed.Pause(ctx, asked) // the charts show this time
}

// look sets the theme and the size of the page.
func (p *page) look(n *harness.Node, l look) {
	p.t.Helper()
	p.open(n.Client.Node(), "")
	p.do(chromedp.Evaluate(fmt.Sprintf(
		"localStorage.setItem('gslb-theme', %q); sessionStorage.setItem('gslb-range', '15 m')", l.theme), nil),
		emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 600))
}

// judge checks the shown view, and takes its screenshot.
func (p *page) judge(v view, l look, suffix string) {
	p.t.Helper()
	p.wait(v.name+" to be as wide as the page",
		fmt.Sprintf("document.documentElement.scrollWidth <= %d", l.width))
	if v.name == "dnssec" {
		p.reads("main", "active key ", "incoming key ")
	}
	p.axe(cmp.Or(l.name, l.theme) + suffix + " " + v.name)
	p.shoot(v.name + suffix + l.name)
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
			err = browser.CaptureScreenshot().WithFormat(browser.CaptureScreenshotFormatWebp).WithQuality(60).Do(ctx)
		return err
	}))
	if err := errors.Join(os.MkdirAll(*shots, 0o750),
		os.WriteFile(filepath.Join(*shots, name+".webp"), picture, 0o600)); err != nil {
		p.t.Fatal(err)
	}
}
