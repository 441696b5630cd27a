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

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// apiPath is the beginning of the paths of a node's API; a front that answers it leaves the files of the console alone.
const apiPath = "/api/"

// front stands between a browser and a node, as a proxy does, and answers in the node's place what a test tells it to.
type front struct {
	*httptest.Server

	mu      sync.Mutex
	instead map[string]func() (status int, body any) // by path

	streams atomic.Int32 // open streams of events
}

// newFront starts a front. The browser must be started after it, so that its streams have ended when the front ends.
func newFront(t *testing.T, n *harness.Node) *front {
	t.Helper()
	node, err := url.Parse(n.Client.Node())
	if err != nil {
		t.Fatal(err)
	}
	f := &front{instead: map[string]func() (int, any){}}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(node) }}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			f.streams.Add(1)
			defer f.streams.Add(-1)
		}
		if answer := f.answerTo(r.URL.Path); answer != nil {
			say(w, answer)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *front) answerTo(path string) func() (int, any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if all := f.instead[apiPath]; all != nil && strings.HasPrefix(path, apiPath) {
		return all
	}
	return f.instead[path]
}

// say writes an answer: a text as it is, anything else as JSON.
func say(w http.ResponseWriter, answer func() (int, any)) {
	status, body := answer()
	w.WriteHeader(status)
	if text, plain := body.(string); plain {
		_, _ = io.WriteString(w, text)
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

// answers has the front answer a path from now on; apiPath stands for all of the API.
func (f *front) answers(path string, answer func() (status int, body any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instead[path] = answer
}

// fails has the front answer a path with an error of the node.
func (f *front) fails(path string, status int, sentence string) {
	f.answers(path, func() (int, any) { return status, map[string]string{"error": sentence} })
}

// stepsAside has the node answer everything again.
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

// What is old is never shown as new: an error of the node stands beside it, and what a proxy says in the node's place
// counts as no answer. What the node does not know any more is gone.
func TestConsole_SaysWhatIsOld(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	node := s.nodes[0]
	f := newFront(t, node)
	p := newPage(t)
	startAlone(t, node)
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
	p.reads("[role=alert]", "may be old: nothing is remembered")
	p.reads(".pulse", "live")
	f.answers(apiPath, func() (int, any) { return http.StatusBadGateway, "<h1>Bad Gateway</h1>" })
	p.reads("[role=alert]", "has not answered")
	p.reads(".pulse", "no answer")
	f.stepsAside()
	p.wait("the page to be live again", "document.querySelector('.pulse.good') && !document.querySelector('[role=alert]')")
}

// Signing out ends the stream of events too. An address that was never encoded blanks no page.
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
