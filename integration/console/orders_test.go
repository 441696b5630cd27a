package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// A backend with an unhealthy override or without an agent is not in the fallback answer. The console shows this before
// the change, with the same text as gslbctl.
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
	const nobody = webName + " would be left with 0 of at least 1 backend: no backend would be left to answer (A)"
	p.open(node.Client.Node(), "agents")
	p.click("button[aria-label='Revoke agent-eu-1']")
	p.reads("dialog", nobody)
	p.open(node.Client.Node(), "names/"+webName)
	p.click(fmt.Sprintf("button[aria-label='Change %s:%s']", webName, s.backends[0].At))
	p.reads("dialog", "its fallback answer would be used") // drained, it is one
	p.click("dialog .choice button:nth-child(2)")
	p.reads("dialog", nobody)
}

// The console ends an override of all ports of an address only after a warning.
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
	p.reads("dialog", "Checks and agent reports decide its status.")
	p.click("dialog footer button")
	p.reads("dialog", "No change was made", "all ports of "+at.Addr().String())
	overrides(1)
	p.click("dialog footer button")
	p.wait("the dialog to close", "!document.querySelector('dialog')")
	overrides(0)
	p.reads("main", "4 of 4 serve")
}

// The page of a name shows the stage and the time of a drain as the node reports them.
func TestConsole_ShowsTheStageOfADrain(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	drain := api.ActiveDrain{EndsAt: time.Now().Add(time.Minute),
		ActiveOrder: api.ActiveOrder{By: "ada", At: time.Now().Add(-time.Minute)}}
	reports := func(stage api.DrainStage, safeAt *time.Time) {
		drain := drain
		drain.Stage, drain.SafeAt = stage, safeAt
		b := api.Backend{ID: webName + ":192.0.2.1:80", Service: webName, Address: "192.0.2.1", Port: 80,
			EffectiveStatus: api.EffectiveHealthy, Draining: true, Drain: &drain}
		f.answers("/api/v1/overwatch/backends", func() (int, any) {
			return http.StatusOK, api.BackendList{Backends: []api.Backend{b}, Total: 1, GeneratedAt: time.Now()}
		})
	}
	reports(api.DrainDraining, new(time.Now().Add(2*time.Hour)))
	p.open(f.URL, "names/"+webName)
	p.reads(".drains", "draining", "safe to stop in 1")
	reports(api.DrainAnswered, nil)
	p.reads(".drains", "still answered", "not safe to stop")
	reports(api.DrainCached, new(time.Now().Add(time.Hour)))
	p.reads(".drains", "in no answer", "safe to stop in")
	reports(api.DrainReduced, nil)
	p.reads(".drains", "keeps 0% of its weight")
	reports(api.DrainSafe, new(time.Now().Add(-time.Hour)))
	p.reads(".drains .status.good", "safe to stop")
}

// A disabled name is not shown as healthy, regardless of its backends, and is not counted.
func TestConsole_ShowsANameThatIsOff(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), newPage(t)
	node := s.nodes[0]
	startAlone(t, node)
	if _, err := node.Client.ChangeDomain(t.Context(), shopName, api.DomainChange{"enabled": false}); err != nil {
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

// ahead lets a test set the clock of a page forward, and records the start time of the flows that the page requests.
const ahead = `{
	const now = Date.now, ask = fetch;
	window.ahead = 0;
	Date.now = () => now() + window.ahead;
	window.fetch = (path, ...rest) => {
		window.begins = /start_time=([^&]+)/.exec(path)?.[1] ?? window.begins;
		return ask(path, ...rest);
	};
}`

// The last day of a name and the last hour of the map advance with the clock. Existing data stays until the update.
func TestConsole_TheLastDayGoesOn(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	f.answersQuery("/api/v1/events", eventsOf(lasting(shopName, time.Now().Add(-time.Hour))))
	p.beforeEach(ahead)
	for _, v := range []struct{ view, part, grows string }{
		{"names/" + shopName, "[aria-labelledby=history] .tracks",
			"document.querySelector('.track rect + rect')?.width.baseVal.value"}, // what lasts is as much longer
		{"map", "[aria-labelledby=flows] .table", "window.begins"},
	} {
		p.open(f.URL, v.view)
		p.wait(v.view, fmt.Sprintf("document.querySelector(%q) && %s", v.part, v.grows))
		p.wait("two minutes to pass", fmt.Sprintf("(window.before = %s, new MutationObserver(() => { "+
			"window.gone ||= !document.querySelector(%q); }).observe(document.body, { childList: true, subtree: true })) || "+
			"(window.ahead = 120000)", v.grows, v.part))
		p.wait(v.view+" to go on", v.grows+" > window.before")
		p.wait("what was there to stay", "!window.gone")
	}
}

// lasting is the event of a name that has been unanswered since a time.
func lasting(name string, since time.Time) api.Event {
	return api.Event{Sequence: 1, Time: since, Kind: api.EventName, State: "unanswered", Severity: api.EventCritical,
		Phase: api.PhaseBegins, Subject: name, Name: name}
}

// eventsOf answers with the events since the start time of the query, as a node does.
func eventsOf(all ...api.Event) func(url.Values) (status int, body any) {
	return func(query url.Values) (int, any) {
		since, _ := time.Parse(time.RFC3339, query.Get("since"))
		list := api.EventList{Events: []api.Event{}, GeneratedAt: time.Now()}
		for _, e := range all {
			if !e.Time.Before(since) {
				list.Events = append(list.Events, e)
			}
		}
		list.Total = len(list.Events)
		return http.StatusOK, list
	}
}

// A name that has been unanswered for more than the displayed day is shown as unanswered for the whole day. Events
// before the day are not shown. A chart has no line across a time without points.
func TestConsole_ShowsTheDayAsItWas(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	hoursAgo := func(hours int) time.Time { return time.Now().Add(-time.Duration(hours) * time.Hour) }
	before := api.Event{Sequence: 2, Time: hoursAgo(28), Kind: api.EventBackend, State: "unhealthy",
		Severity: api.EventError, Phase: api.PhaseBegins, Subject: shopName + ":192.0.2.1:80", Name: shopName}
	ended := before
	ended.Sequence, ended.Time, ended.State, ended.Phase = 3, hoursAgo(26), "healthy", api.PhaseEnds
	f.answersQuery("/api/v1/events", eventsOf(lasting(shopName, hoursAgo(30)), before, ended))
	p.open(f.URL, "names/"+shopName)
	p.reads("[aria-labelledby=history]", "unanswered ... to now")
	p.wait("nothing else", "document.querySelectorAll('.track').length === 1")

	const asked = `import(location.origin + '/console/chart.js').then(({ dataOf }) => JSON.stringify(dataOf([{ of: 'x' }],
		[0, 60, 3660].map((at) => ({ timestamp: new Date(at * 1000).toISOString(), values: { x: at } })))))`
	var data string
	p.do(chromedp.Evaluate(asked, &data, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
		return e.WithAwaitPromise(true)
	}))
	if data != "[[0,60,1860,3660],[0,60,null,3660]]" {
		t.Errorf("a chart has %s", data)
	}
}

// A partial list is marked as partial, and the page can request the other pages.
func TestConsole_SaysWhereAListIsCut(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	f.answersQuery("/api/v1/overwatch/backends", func(query url.Values) (int, any) {
		list := api.BackendList{Backends: []api.Backend{}, Total: 1001, GeneratedAt: time.Now()}
		offset, _ := strconv.Atoi(query.Get("offset"))
		for i := offset; i < min(offset+1000, list.Total); i++ {
			b := api.Backend{ID: strconv.Itoa(i), Service: shopName, MayServe: true}
			if i == 1000 {
				b.Service = webName
			}
			list.Backends = append(list.Backends, b)
		}
		return http.StatusOK, list
	})
	p.open(f.URL, "map/eu")
	p.reads("[aria-labelledby=chosen]", shopName, "1000 of 1000 serve", webName, "1 of 1 serve")

	// The node has three entries and returns one.
	f.answersQuery("/api/v1/domains", func(query url.Values) (int, any) {
		list := api.DomainList{Domains: []api.Domain{}, Total: 3, GeneratedAt: time.Now()}
		if query.Get("offset") == "0" {
			list.Domains = append(list.Domains, api.Domain{BackendCount: 1, ServingBackends: 1,
				Domain: model.Domain{Name: shopName, Enabled: true, Tags: []string{}}})
		}
		return http.StatusOK, list
	})
	f.answersQuery("/api/v1/overwatch/agents", func(query url.Values) (int, any) {
		list := api.AgentList{Agents: []api.Agent{}, Total: 3, GeneratedAt: time.Now()}
		if query.Get("offset") == "0" {
			list.Agents = append(list.Agents, api.Agent{AgentID: "agent-eu-1", Fingerprint: "sha256:0123456789ab",
				Services: []string{shopName}, ExpiresInHours: 45 * 24, Problems: []string{}})
		}
		return http.StatusOK, list
	})
	p.open(f.URL, "overview")
	p.reads(".tiles", "1/1", "of the first 1")
	p.reads("[aria-labelledby=facts]", "1/1 of the first 1")
	p.open(f.URL, "names")
	p.reads("main", "the first 1 of 3", "gslbctl domains list")
	p.open(f.URL, "agents")
	p.reads("main", "the first 1 of 3", "gslbctl agents list")
	p.reads("td .status.warn", "in 45d") // the conditions begin at 60
}

// The preview of an undo is requested once, regardless of the duration of the request and the number of redraws.
func TestConsole_AsksOnceWhatAnUndoingWouldDo(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	var drawn, asked atomic.Int32
	slow := make(chan struct{})
	defer close(slow)
	f.answers("/api/v1/audit-logs", func() (int, any) {
		drawn.Add(1)
		return http.StatusOK, api.AuditList{Entries: []api.AuditEntry{{ID: 7, Action: api.AuditDrain, Resource: "server",
			ActorType: api.ActorUser, Status: api.AuditSuccess, Details: map[string]string{}}}, Total: 1}
	})
	f.answers("/api/v1/audit-logs/7/undo", func() (int, any) {
		asked.Add(1)
		<-slow
		return http.StatusOK, api.Undone{Success: true, Message: "it would be undone"}
	})
	p.open(f.URL, "audit")
	p.click("button[aria-label='Undo entry 7']")
	p.reads("dialog", "Loading")
	before := drawn.Load()
	testbed.Until(t, hang, "the page to be drawn with another answer", func(context.Context) error {
		if drawn.Load() < before+2 { // the answer before the last one has been drawn
			return errors.New("the page has not asked again")
		}
		return nil
	})
	if n := asked.Load(); n != 1 {
		t.Errorf("it is asked %d times", n)
	}
}
