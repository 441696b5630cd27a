package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// What is marked unhealthy, or loses its agent, is no last resort either. That is said before, in gslbctl's words.
func TestConsole_KnowsWhatIsNoLastResort(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node, ill := s.nodes[0], false
	if _, err := node.Client.ChangeDNSConfig(t.Context(), api.DNSConfigChange{ReturnLastHealthy: new(true)}); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.backends[1:4] {
		order := api.OverrideRequest{Healthy: &ill, Reason: "a test"}
		if _, err := node.Client.SetOverride(t.Context(), webName, b.At.String(), order); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = webName + " would be left with 0 of at least 1 backend: nobody would answer it (A)"
	p.open(node.Client.Node(), "agents")
	p.click("button[aria-label='Revoke agent-eu-1']")
	p.reads("dialog", nobody)
	p.open(node.Client.Node(), "names/"+webName)
	p.click(fmt.Sprintf("button[aria-label='Change %s:%s']", webName, s.backends[0].At))
	p.reads("dialog", "its last resort would answer") // drained, it is one
	p.click("dialog .choice button:nth-child(2)")
	p.reads("dialog", nobody)
}

// An override of all ports of an address is ended only after it was said that it is one.
func TestConsole_ClearsAnOverrideOfAllPorts(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node, at, ill := s.nodes[0], s.backends[1].At, false
	if _, err := node.Client.SetOverride(t.Context(), webName, at.Addr().String(), api.OverrideRequest{Healthy: &ill,
		Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	overrides := func(want int) {
		t.Helper()
		list, err := node.Client.Overrides(t.Context())
		if err != nil || list.Total != want {
			t.Fatalf("%v, %+v", err, list)
		}
	}
	p.open(node.Client.Node(), "names/"+webName)
	p.reads("td", "override")
	p.click(fmt.Sprintf("button[aria-label='Change %s:%s']", webName, at))
	p.reads("dialog .choice button:nth-child(4)", "Clear override")
	p.click("dialog .choice button:nth-child(4)")
	p.reads("dialog", "The checks count again.")
	p.click("dialog footer button")
	p.reads("dialog", "Nothing was changed yet", "all ports of "+at.Addr().String())
	overrides(1)
	p.click("dialog footer button")
	p.wait("the dialog to close", "!document.querySelector('dialog')")
	overrides(0)
	p.reads("main", "4 of 4 serve")
}

// A backend that was drained is safe to stop only when resolvers have forgotten the last answer with it, which may have
// come after the end of the drain, and by the name of its target. What is not known yet is no such answer.
func TestConsole_CountsFromTheLastAnswer(t *testing.T) {
	t.Parallel()
	const ttl, target = 3600, "eu.example.net"
	s := newScene(t)
	node := s.nodes[0]
	f := newFront(t, node)
	p := newPage(t)
	startAlone(t, node)
	if _, err := node.Client.ChangeDomain(t.Context(), webName, api.DomainChange{TTL: new(ttl)}); err != nil {
		t.Fatal(err)
	}
	ended := time.Now().Add(-2 * ttl * time.Second)
	drained := api.Backend{ID: webName + ":192.0.2.1:80", Service: webName, Address: "192.0.2.1", Port: 80, Target: target,
		EffectiveStatus: api.EffectiveHealthy, Draining: true, Drain: &api.ActiveDrain{EndsAt: ended,
			ActiveOrder: api.ActiveOrder{By: "ada", At: ended.Add(-time.Minute)}}}
	f.answers("/api/v1/overwatch/backends", func() (int, any) {
		return http.StatusOK, api.BackendList{Backends: []api.Backend{drained}, Total: 1, GeneratedAt: time.Now()}
	})
	answered := func(with string) {
		f.answers("/api/v1/routing/answers", func() (int, any) {
			return http.StatusOK, api.RoutingAnswerList{Answers: []api.RoutingAnswer{{Everybody: true,
				Decision: api.RoutingSuccess, Addresses: []api.RoutingShare{{Address: with, Share: 1}}}}, Total: 1}
		})
	}
	f.fails("/api/v1/routing/answers", http.StatusInternalServerError, "not now")
	p.open(f.URL, "names/"+webName)
	p.reads(".drains", "asking")
	answered("192.0.2.9")
	p.reads(".drains", "safe to stop") // nothing else is known
	answered(target)
	p.reads(".drains", "still answered")
	answered("192.0.2.9")
	p.reads(".drains", "answered to nobody", "safe to stop in")
}

// A name that is switched off is not shown as well, however well its backends are, and counts nowhere.
func TestConsole_ShowsANameThatIsOff(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	startAlone(t, node)
	if _, err := node.Client.ChangeDomain(t.Context(), shopName, api.DomainChange{Enabled: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.open(node.Client.Node(), "names")
	p.wait("its row", fmt.Sprintf("[...document.querySelectorAll('tr')].some((r) => r.innerText.includes(%q) && "+
		"/\\boff\\b/.test(r.innerText) && !/0 of 0/.test(r.innerText))", shopName))
	p.click(fmt.Sprintf("a[href='#/names/%s']", shopName))
	p.reads(".summary", "off")
	p.reads("[aria-labelledby=backends]", "No backend.")
	p.wait("no error", "!document.querySelector('[role=alert], [aria-labelledby=answers]')")
	p.open(node.Client.Node(), "overview")
	p.reads(".tiles", "0/2")
	p.reads("[aria-labelledby=facts]", "0/2")
}

// beginning is that of the time which a request is about.
var beginning = regexp.MustCompile(`[?&](?:since|start_time)=([^&]+)`)

// begins returns the beginning of the time that the page has asked for last, "" before it has.
func (p *page) begins() (moment string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, asked := range p.asked {
		if m := beginning.FindStringSubmatch(asked); m != nil {
			moment = m[1]
		}
	}
	return moment
}

// The last day of a name and the last hour of the map go on with the clock, and what was there stays meanwhile.
func TestConsole_TheLastDayGoesOn(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	startAlone(t, node)
	p.beforeEach("{ const now = Date.now; window.ahead = 0; Date.now = () => now() + window.ahead; }")
	for view, part := range map[string]string{"names/" + shopName: "[aria-labelledby=history] .tracks",
		"map": "[aria-labelledby=flows] .table"} {
		p.open(node.Client.Node(), view)
		p.wait(view, fmt.Sprintf("document.querySelector(%q)", part))
		before := p.begins()
		p.wait("two minutes to pass", fmt.Sprintf("new MutationObserver(() => { window.gone ||= !document.querySelector(%q); "+
			"}).observe(document.body, { childList: true, subtree: true }) || (window.ahead = 120000)", part))
		testbed.Until(t, hang, view+" to ask for a later time", func(context.Context) error {
			if p.begins() <= before {
				return errors.New("it asks since " + before)
			}
			return nil
		})
		p.wait("what was there to stay", "!window.gone")
	}
}
