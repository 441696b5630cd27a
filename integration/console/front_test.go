package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// apiPath is the prefix of the API paths of a node. A front for it passes the console files through.
const apiPath = "/api/"

// front is a proxy between a browser and a node. It can replace answers of the node.
type front struct {
	*httptest.Server

	mu      sync.Mutex
	instead map[string]func(url.Values) (status int, body any) // by path

	streams atomic.Int32 // open streams of events
}

// newFront starts a front. Start the browser after the front, so that the browser's streams end first.
func newFront(t *testing.T, n *harness.Node) *front {
	t.Helper()
	node, err := url.Parse(n.Client.Node())
	if err != nil {
		t.Fatal(err)
	}
	f := &front{instead: map[string]func(url.Values) (int, any){}}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(node) }}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			f.streams.Add(1)
			defer f.streams.Add(-1)
		}
		if answer := f.answerTo(r.URL.Path); answer != nil {
			status, body := answer(r.URL.Query())
			say(w, status, body)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *front) answerTo(path string) func(url.Values) (int, any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if all := f.instead[apiPath]; all != nil && strings.HasPrefix(path, apiPath) {
		return all
	}
	return f.instead[path]
}

// say writes an answer: a text unchanged, other values as JSON.
func say(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	if text, plain := body.(string); plain {
		_, _ = io.WriteString(w, text)
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

// answers makes the front answer a path. apiPath represents the whole API.
func (f *front) answers(path string, answer func() (status int, body any)) {
	f.answersQuery(path, func(url.Values) (int, any) { return answer() })
}

// answersQuery is answers by the query of each request.
func (f *front) answersQuery(path string, answer func(url.Values) (status int, body any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instead[path] = answer
}

// fails makes the front answer a path with an error of the node.
func (f *front) fails(path string, status int, sentence string) {
	f.answers(path, func() (int, any) { return status, map[string]string{"error": sentence} })
}

// stepsAside makes the node answer all requests again.
func (f *front) stepsAside() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.instead)
}

// startAlone starts a node without its backends.
func startAlone(t *testing.T, n *harness.Node) {
	t.Helper()
	testbed.Start(t, n)
	if err := n.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// fronted starts a single node, and returns the node, its front and a page.
func fronted(t *testing.T) (*harness.Node, *front, *page) {
	t.Helper()
	node := newScene(t).nodes[0]
	f, p := newFront(t, node), newPage(t)
	startAlone(t, node)
	return node, f, p
}

// Outdated data is never shown as current: the page shows an error of the node next to it, and treats a proxy's
// response as no answer. Objects that the node no longer has are removed.
func TestConsole_SaysWhatIsOld(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	p.open(f.URL, "names/"+shopName)
	p.reads(".summary", "0 of 0 serve")
	f.fails("/api/v1/domains/"+shopName, http.StatusInternalServerError, "the disk is gone")
	p.reads("[role=alert]", "the disk is gone")
	p.reads(".summary", "0 of 0 serve")
	f.fails("/api/v1/domains/"+shopName, http.StatusNotFound, "there is no such name")
	p.reads("[role=alert]", "there is no such name")
	p.wait("the name to go", "!document.querySelector('.summary')")

	f.fails("/api/v1/metrics/history", http.StatusInternalServerError, "nothing is remembered")
	p.open(f.URL, "overview")
	p.reads(".tiles", "0/3")
	p.reads("[role=alert]", "may be outdated: nothing is remembered")
	p.reads(".pulse", "live")
	f.answers(apiPath, func() (int, any) { return http.StatusBadGateway, "<h1>Bad Gateway</h1>" })
	p.reads("[role=alert]", "has not answered")
	p.wait("an alert that does not change by the second",
		"[...document.querySelectorAll('[role=alert]')].some((e) => e.innerText === 'The node has not answered')")
	p.reads(".pulse", "no answer")
	f.stepsAside()
	p.wait("the page to be live again", "document.querySelector('.pulse.good') && !document.querySelector('[role=alert]')")
}

// The parent of a zone that becomes unsigned must have no DS record. The page shows this instead of a key, even during
// a rollover.
func TestConsole_ShowsAZoneThatGoesUnsigned(t *testing.T) {
	t.Parallel()
	const zone = "test.gslb.test."
	_, f, p := fronted(t)
	began := time.Now()
	ofKey := api.Roll{Zone: zone, Way: api.RollToKey, Stage: api.RollOffered, Since: began, StartedAt: began,
		KeyTag: 4711, OldKeys: []int{42}, DSRecord: zone + " IN DS 4711 13 2 00", Schedule: []api.RollStep{},
		Advice: []api.RollAdvice{{Act: api.RollReplaceDS, Safe: true}}}
	way := api.Roll{Zone: zone, Way: api.RollToUnsigned, Stage: api.RollOffered, Since: began, StartedAt: began,
		OldKeys: []int{}, Schedule: []api.RollStep{{Stage: api.RollUnsigned, NotBefore: began.Add(time.Hour)}},
		Advice: []api.RollAdvice{{Act: api.RollReplaceDS}, {Act: api.RollRemoveDS, Safe: true}}}
	f.answers("/api/v1/dnssec/rollover", func() (int, any) {
		return http.StatusOK, api.Rolls{Enabled: true, Rolls: []api.Roll{ofKey, way}}
	})
	f.answers("/api/v1/dnssec/keys", func() (int, any) {
		return http.StatusOK, api.DNSSECKeys{Enabled: true, Keys: []api.DNSSECKey{{Zone: zone, KeyTag: 42,
			Stage: api.StageRetired}}}
	})
	p.open(f.URL, "signing") // the name of the view in version 0.9.0
	p.reads(".rolls", zone+" to key 4711", zone+": transition to unsigned", "the parent must not have a DS record",
		"caches still have signed answers", "remove all DS records from the parent", "add a DS record to the parent")
	p.wait("nothing for the parent", "!document.querySelector('.rolls pre') && "+
		"!/key 0|the DS record of key|undefined/.test(document.querySelector('.rolls').innerText)")
	p.reads("main", "This node does not sign")
}

// Signing out also ends the event stream. A URL with invalid encoding does not cause an empty page.
func TestConsole_SignsOutOfTheStream(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	node := s.nodes[0]
	token := harness.NewToken()
	node.File.API.More = map[string]any{"tokens": map[string]any{"read": map[string]string{"ada": token}}}
	f := newFront(t, node)
	p := newPage(t)
	startAlone(t, node)
	streams := func(want int32) {
		t.Helper()
		testbed.Until(t, hang, fmt.Sprintf("%d streams of events", want), func(context.Context) error {
			if open := f.streams.Load(); open != want {
				return fmt.Errorf("%d are open", open)
			}
			return nil
		})
	}
	p.open(f.URL, "names/100%")
	p.fill("input[name=token]", token)
	p.click("button.main")
	p.reads("h1", "100%")
	streams(1)
	p.click(".session button:last-child")
	p.reads(".gate", "api.tokens")
	streams(0)
}
