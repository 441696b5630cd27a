package console_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The overview shows a healthy service, a killed backend and a restarted backend, and continues after a restart of the
// node. The browser sends requests only to the node and logs no error.
func TestConsole_ShowsAKillAndSurvivesARestart(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node := s.nodes[0]
	p.open(node.Client.Node(), "")
	p.reads("h1", "healthy: nothing needs attention")
	p.reads("main", "14/14", "3/3", "ow-eu")
	testbed.Kill(t, s.backends[2])
	p.reads("h1", "degraded")
	p.reads(".recent .bad, .recent .warn", "backend")
	p.reads("main", s.backends[2].At.Addr().String(), "gslbctl")
	p.click(fmt.Sprintf(".band a[href='#/names/%s']", shopName))
	p.reads("h1", shopName)
	p.click("nav a[href='#/names']")
	p.reads("table", shopName, "4 of 5")
	p.reads(".now", "asia", s.backends[4].At.Addr().String()+" 100%")
	p.click(fmt.Sprintf("a[href='#/names/%s']", shopName))
	p.reads("table", "unhealthy")
	victim := s.backends[2].At
	p.reads("[aria-labelledby=history]", shopName, victim.String(), "unhealthy", "to now")

	testbed.Start(t, s.backends[2])
	p.reads("main", "5 of 5 serve")
	if said := p.complaints(); len(said) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(said, "\n"))
	}
	testbed.Kill(t, node)
	p.reads("[role=alert]", "has not answered")
	testbed.Start(t, node)
	p.wait("the page to be live again", "document.querySelector('.pulse.good') && !document.querySelector('[role=alert]')")
	p.reads("main", "5 of 5 serve")
	if said := p.complaints("net::ERR"); len(said) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(said, "\n"))
	}
	p.asksOnly(node)
}

// asksOnly checks that the page has sent requests only to a node.
func (p *page) asksOnly(node *harness.Node) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range p.asked {
		if !strings.HasPrefix(url, node.Client.Node()+"/") && url != "about:blank" {
			p.t.Errorf("the page asked for %s", url)
		}
	}
}

// The explanation for a client contains the addresses of the DNS answer for this client, and the reason for the
// exclusion of each other backend.
func TestConsole_ExplainsWhatDNSAnswers(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	cities, err := filepath.Abs(testbed.Databases + "GeoIP2-City-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	node.File.Overwatch.Geolocation.DatabasePath = cities
	s.start(t)
	p.open(node.Client.Node(), "names/"+shopName)
	p.reads("main", "5 of 5 serve", "clients in asia", "HTTPS h2")
	p.fill("input[name=client]", "127.0.0.1")
	p.fill("input[name=subnet]", "203.0.113.0/24")
	p.click("[aria-labelledby=ask] button.main")
	p.reads(".explained", "success", "is in asia, by a mapping", "another region has priority", s.backends[0].At.String())
	asDug := func(rtype string) {
		t.Helper()
		var records string
		p.do(chromedp.Text(".records", &records))
		answer := testbed.Command(t, testbed.Judge(t, "dig"), "@127.0.0.1", "-p", strconv.Itoa(int(node.DNS.Port())),
			"+noall", "+answer", "+subnet=203.0.113.0/24", shopName, rtype)
		plain := strings.NewReplacer(`"`, "") // dig quotes no hint
		dug, said := strings.Fields(plain.Replace(answer.Output)), strings.Fields(plain.Replace(records))
		if len(said) == 0 || !slices.Equal(dug, said) {
			t.Errorf("dig answers %v, the console says %v", dug, said)
		}
	}
	asDug("A")
	p.wait("HTTPS to be chosen", "(document.querySelector('select[name=kind]').value = 'HTTPS') === 'HTTPS'")
	p.click("[aria-labelledby=ask] button.main")
	p.reads(".explained", "IN HTTPS 1 . alpn", s.backends[0].At.String())
	asDug("HTTPS")
	p.wait("addresses to be chosen", "(document.querySelector('select[name=kind]').value = 'A') === 'A'")
	// A position, typed or clicked, is as valid as an address. The middle of the map is in the Gulf of Guinea.
	p.fill("input[name=subnet]", "")
	p.fill("input[name=client]", "51.5, -0.1")
	p.click("[aria-labelledby=ask] button.main")
	p.reads(".explained", "km from there", "is in eu, GB, by the database")
	p.click(".onmap summary")
	p.wait("the map to be drawn", "(document.querySelector('.onmap .land')?.getAttribute('d') || '').length > 1000")
	p.wait("a click in the middle of the map",
		`(() => { const e = document.querySelector('.onmap svg'), b = e.getBoundingClientRect();
		return e.dispatchEvent(new MouseEvent('click', {bubbles: true,
			clientX: b.left + b.width / 2, clientY: b.top + b.height / 2})); })()`)
	p.wait("the place that was clicked",
		"/^1[0-9.]+, -?0(\\.[0-9])?$/.test(document.querySelector('input[name=client]').value)")
	p.wait("its answer", "!document.querySelector('.explained').textContent.includes('GB')")
	p.reads(".explained", "km from there", "success")
}

// If the node has tokens, the console requests a token, shows the node's error for a wrong token, and stores the token
// only in the tab. For a read token it disables changes.
func TestConsole_AsksForAToken(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	token := harness.NewToken()
	node.File.API.More = map[string]any{"tokens": map[string]any{"read": map[string]string{"ada": token}}}
	testbed.Start(t, node)
	if err := node.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.open(node.Client.Node(), "names/"+shopName)
	p.fill("input[name=token]", "wrong")
	if strings.Contains(p.text(), shopName) {
		t.Error("the page shows a name without a token")
	}
	p.click("button.main")
	p.reads("[role=alert]", "the token is none of api.tokens")
	p.fill("input[name=token]", token)
	p.click("button.main")
	p.reads("h1", shopName)
	p.reads("header", "read only")
	var kept string
	p.do(chromedp.Evaluate(`document.cookie + JSON.stringify(localStorage) + location.href`, &kept))
	if strings.Contains(kept, token) {
		t.Errorf("the token is in %s", kept)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range p.asked {
		if strings.Contains(url, token) {
			t.Errorf("the token is in the address %s", url)
		}
	}
}

// The console shows a drain until the backend is safe to stop, when DNS no longer answers with it. The list of changes
// can undo the drain.
func TestConsole_FollowsADrainToSafeToStop(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node, b := s.nodes[0], s.backends[0]
	id := fmt.Sprintf("%s:%s", shopName, b.At)
	change := fmt.Sprintf("button[aria-label='Change %s']", id)
	p.open(node.Client.Node(), "names/"+shopName)
	p.wait("the focus on the button", fmt.Sprintf(
		"(() => { const e = document.querySelector(%q); e?.focus(); return e && document.activeElement === e; })()", change))
	p.click(change)
	p.reads("dialog", "Each domain has the required number of backends", "replication is off")
	p.fill("dialog input[name=duration]", "2s")
	p.fill("dialog input[name=reason]", "new kernel")
	p.click("dialog footer button")
	p.wait("the focus to be on the button again", fmt.Sprintf(
		"!document.querySelector('dialog') && document.activeElement === document.querySelector(%q)", change))
	p.reads(".drains", b.At.String(), "new kernel")
	p.reads(".drains .status.good", "safe to stop")
	p.reads(".summary", "4 of 5 serve") // a drained backend does not serve
	for range testbed.QuietAnswers {
		answer := testbed.Exchange(t, "udp", node, shopName, dns.TypeA)
		if text := answer.String(); strings.Contains(text, b.At.Addr().String()) || len(answer.Answer) == 0 {
			t.Fatalf("%s is safe to stop, and DNS answers\n%s", b.At.Addr(), text)
		}
	}
	p.click("nav a[href='#/audit']")
	p.reads("table", "drained server "+id)
	p.do(chromedp.SendKeys(".tools input[type=search]", shopName))
	p.wait("the filter in the address", fmt.Sprintf("location.hash === '#/audit////%s'", shopName))
	p.click("button[aria-label^='Undo entry']")
	p.reads("dialog", "would be undone")
	p.click("dialog footer button")
	p.reads("table", "ended the drain of server "+id)
	if said := p.complaints(); len(said) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(said, "\n"))
	}
}

// A change that would leave a name without an answer shows a warning, and requires the operator to type the name.
func TestConsole_NobodyIsLeftOnlyByName(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node, ill := s.nodes[0], false
	for _, b := range s.backends[1:4] {
		order := api.OverrideRequest{Healthy: &ill, Reason: "a test"}
		if _, err := node.Client.SetOverride(t.Context(), webName, b.At.String(), order); err != nil {
			t.Fatal(err)
		}
	}
	p.open(node.Client.Node(), "names/"+webName)
	p.reads("main", "1 of 4 serve")
	p.click(fmt.Sprintf("button[aria-label='Change %s:%s']", webName, s.backends[0].At))
	p.click("dialog .choice button:nth-child(2)")
	p.reads("dialog", webName+" would be left with 0 of at least 1 backend: no backend would be left to answer (A)")
	p.fill("dialog input[name=reason]", "meant")
	p.wait("the order to wait for the name", "document.querySelector('dialog footer button').disabled")
	p.fill("dialog input:not([name])", webName)
	p.click("dialog footer button")
	p.reads("main", "0 of 4 serve")
	if answer := testbed.Exchange(t, "udp", node, webName, dns.TypeA); len(answer.Answer) != 0 {
		t.Errorf("somebody answers:\n%s", answer)
	}
}
