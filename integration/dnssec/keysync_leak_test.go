package dnssec_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// recorder is a proxy between a node and a peer that forwards and records all data.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	answers  [][]byte
}

func record(t *testing.T, to *harness.Node) *recorder {
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		out := req.Clone(req.Context())
		out.RequestURI, out.URL.Scheme, out.URL.Host = "", "http", to.API.String()
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.requests, r.answers = append(r.requests, out), append(r.answers, body)
		r.mu.Unlock()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = w.Write(body)
	}))
	t.Cleanup(r.Close)
	return r
}

// startLiar answers like a malicious node, in a different way for each request.
func startLiar(t *testing.T) string {
	var turn atomic.Int64
	ways := []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "\x00garbage")
		},
		func(w http.ResponseWriter, _ *http.Request) { // a body without end
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("WWW-Authenticate", `Gslb-Key-Sync nonce="`+strings.Repeat("A", 75)+`"`)
			for range 1 << 20 {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<10)); err != nil {
					return
				}
			}
		},
		func(w http.ResponseWriter, r *http.Request) { // a body that drips
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(100 * time.Millisecond):
				case <-r.Context().Done():
				}
			}
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ways[int(turn.Add(1))%len(ways)](w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// nothingLeaks searches for private keys in the recorded data and in all answers of the API, and repeats requests.
func nothingLeaks(t *testing.T, s *testbed.Site, tap *recorder) {
	t.Helper()
	var secrets [][]byte
	for _, file := range testbed.KeyFilesOf(t, s.Nodes[0]) {
		text := testbed.Read(t, file)
		for line := range strings.Lines(text) {
			if key, ok := strings.CutPrefix(line, "PrivateKey: "); ok {
				secrets = append(secrets, []byte(strings.TrimRight(strings.TrimSpace(key), "=")))
			}
		}
	}
	if len(secrets) != 2 {
		t.Fatalf("%d private keys found", len(secrets))
	}
	clean := func(what string, text []byte) {
		for _, secret := range secrets {
			if bytes.Contains(text, secret) {
				t.Errorf("%s has a private key in it", what)
			}
		}
	}
	tap.mu.Lock()
	requests, answers := slices.Clone(tap.requests), slices.Clone(tap.answers)
	tap.mu.Unlock()
	sealed := 0
	for i, answer := range answers {
		clean("an answer", answer)
		var list api.DNSSECKeys
		if json.Unmarshal(answer, &list) != nil || list.Sealed == "" {
			continue
		}
		if sealed++; sealed > 5 {
			continue
		}
		for _, n := range s.Nodes {
			repeated := requests[i].Clone(t.Context())
			repeated.URL.Host = n.API.String()
			resp, err := http.DefaultTransport.RoundTrip(repeated)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusUnauthorized || bytes.Contains(body, []byte("sealed")) {
				t.Errorf("%s answers a repeated request: %d %s", n.Name, resp.StatusCode, body)
			}
		}
	}
	if sealed == 0 {
		t.Error("nothing sealed was recorded")
	}
	for _, path := range []string{"dnssec/keys", "dnssec/status", "dnssec/ds", "audit-logs?limit=1000", "gossip/config"} {
		resp, err := http.Get("http://" + s.Nodes[0].API.String() + "/api/v1/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v", path, resp.StatusCode, err)
		}
		clean(path, body)
	}
	for _, n := range s.Nodes {
		for _, line := range n.Output() {
			clean("the log of "+n.Name, []byte(line.Text))
		}
	}
}
