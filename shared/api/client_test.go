package api // inside: it looks at body

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// serve starts a server and returns its client.
func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return clientOf(t, srv.URL)
}

func clientOf(t *testing.T, node string) *Client {
	t.Helper()
	c, err := NewClient(ClientOptions{Node: node, Timeout: 5 * time.Second, UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "r-1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func TestClient_ErrorAnswerCarriesStatusSentenceAndRequestID(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, ErrorBody{Error: "no such agent"})
	})
	_, err := c.Agent(t.Context(), "a1")
	got, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("error is %T %v", err, err)
	}
	if got.Status != 404 || got.Message != "no such agent" || got.RequestID != "r-1" || got.Node != c.Node() {
		t.Errorf("got %+v", got)
	}
	if want := c.Node() + " answered 404: no such agent"; err.Error() != want {
		t.Errorf("text %q, want %q", err, want)
	}
}

func TestClient_WhatIsNotTheAPIIsSaidSo(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"html": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
			"not the API of an overwatch node"},
		"html error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<h1>secret</h1>", 502) },
			"answered 502: Bad Gateway"},
		"not json": {func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, "text") }, "cannot be read"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://elsewhere.invalid/", 302) },
			"answered 302"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, tc.handler).Stats(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestClient_NotReadyIsAnAnswer(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusServiceUnavailable, Readiness{DNSReady: true, Message: "no check cycle has completed yet"})
	})
	got, err := c.Readiness(t.Context())
	if err != nil || got.Ready || !got.DNSReady || got.Message == "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestClient_NobodyListeningIsUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	node := l.Addr().String()
	l.Close()
	_, err = clientOf(t, node).Health(t.Context())
	if got, ok := errors.AsType[*UnreachableError](err); !ok || got.Node != "http://"+node {
		t.Fatalf("error is %T %v", err, err)
	}
	if !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "Get ") {
		t.Errorf("text %q", err)
	}
}

func TestClient_TimeoutEndsARequestThatGetsNoAnswer(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer srv.Close()
	defer close(release)
	c, err := NewClient(ClientOptions{Node: srv.URL, Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Health(t.Context())
	if _, ok := errors.AsType[*UnreachableError](err); !ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %T %v", err, err)
	}
}

// A request to a node that never accepts the connection has Reached false, for every cause of the failure.
func TestClient_KnowsThatARequestWasNeverSent(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // never accepts, so that no TLS handshake ends
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c, err := NewClient(ClientOptions{Node: "https://" + silent.Addr().String(), Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Health(t.Context())
	if got, ok := errors.AsType[*UnreachableError](err); !ok || got.Reached || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%T %+v", err, err)
	}
	breaksOff := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer breaksOff.Close()
	_, err = clientOf(t, breaksOff.Listener.Addr().String()).Health(t.Context())
	if got, ok := errors.AsType[*UnreachableError](err); !ok || !got.Reached {
		t.Errorf("%T %+v", err, err)
	}
}

func TestNewClient_RefusesNegativeTimeout(t *testing.T) {
	if _, err := NewClient(ClientOptions{Node: "node1", Timeout: -1}); err == nil {
		t.Error("accepted")
	}
}

func TestClient_ListsReadEveryPage(t *testing.T) {
	const total = 2*MaxPageLimit + 7
	requests := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		offset, _ := strconv.Atoi(r.FormValue("offset"))
		page := ServerList{Servers: []Server{}, Total: total}
		for i := offset; i < min(offset+limit, total); i++ {
			page.Servers = append(page.Servers, Server{Port: i})
		}
		answer(w, 200, page)
	})
	got, err := c.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Servers) != total || got.Total != total || requests != 3 {
		t.Fatalf("%d servers, total %d, %d requests", len(got.Servers), got.Total, requests)
	}
	for i, s := range got.Servers {
		if s.Port != i {
			t.Fatalf("server %d is %d", i, s.Port)
		}
	}
}

func TestClient_ListThatShrinksBetweenPagesEnds(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		page := ServerList{Servers: []Server{{Port: 1}}, Total: 5000}
		if r.FormValue("offset") != "0" {
			page.Servers = []Server{}
		}
		answer(w, 200, page)
	})
	got, err := c.Servers(t.Context())
	if err != nil || len(got.Servers) != 1 {
		t.Errorf("%d servers, %v", len(got.Servers), err)
	}
}

// TestClient_Calls makes each call once and compares the requests that the server received.
func TestClient_Calls(t *testing.T) {
	healthy := false
	var line, body string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		line = r.Method + " " + r.URL.EscapedPath()
		if q := r.URL.Query(); len(q) > 0 {
			q.Del("limit")
			q.Del("offset")
			line = strings.TrimSuffix(line+"?"+q.Encode(), "?")
		}
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		if (body != "") != (r.Header.Get("Content-Type") == "application/json") {
			t.Errorf("%s: content type %q with body %q", line, r.Header.Get("Content-Type"), body)
		}
		if r.Header.Get("User-Agent") != "test" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("%s: headers %v", line, r.Header)
		}
		answer(w, 200, struct{}{})
	})
	ctx := t.Context()
	for _, tc := range []struct {
		line, body string
		call       func() error
	}{
		{"GET /api/health", "", func() error { _, err := c.Health(ctx); return err }},
		{"GET /api/v1/notifications", "", func() error { _, err := c.Notifications(ctx); return err }},
		{"POST /api/v1/notifications/test?target=chat", "", func() error {
			_, err := c.TestNotifications(ctx, "chat")
			return err
		}},
		{"GET /api/v1/ready", "", func() error { _, err := c.Readiness(ctx); return err }},
		{"GET /api/v1/version", "", func() error { _, err := c.Version(ctx); return err }},
		{"GET /api/v1/health/servers", "", func() error { _, err := c.ServerHealth(ctx); return err }},
		{"GET /api/v1/health/regions", "", func() error { _, err := c.RegionHealth(ctx); return err }},
		{"GET /api/v1/servers", "", func() error { _, err := c.Servers(ctx); return err }},
		{"GET /api/v1/domains", "", func() error { _, err := c.Domains(ctx); return err }},
		{"GET /api/v1/domains/app.example", "", func() error { _, err := c.Domain(ctx, "app.example"); return err }},
		{"GET /api/v1/domains/a%2F..%2Fb/backends", "",
			func() error { _, err := c.DomainBackends(ctx, "a/../b"); return err }},
		{"GET /api/v1/overwatch/backends", "", func() error { _, err := c.Backends(ctx, BackendFilter{}); return err }},
		{"GET /api/v1/overwatch/backends?region=eu&service=app&status=stale", "", func() error {
			_, err := c.Backends(ctx, BackendFilter{Service: "app", Region: "eu", Status: EffectiveStale})
			return err
		}},
		{"GET /api/v1/overwatch/stats", "", func() error { _, err := c.Stats(ctx); return err }},
		{"GET /api/v1/overwatch/agents", "", func() error { _, err := c.Agents(ctx); return err }},
		{"GET /api/v1/overwatch/agents/a1", "", func() error { _, err := c.Agent(ctx, "a1"); return err }},
		{"GET /api/v1/overwatch/agents/expiring?threshold_days=60", "",
			func() error { _, err := c.ExpiringAgents(ctx, 60); return err }},
		{"DELETE /api/v1/overwatch/agents/a1", "", func() error { _, err := c.Unpin(ctx, "a1"); return err }},
		{"POST /api/v1/overwatch/agents/a%201/revoke", `{"reason":"lost"}`,
			func() error { _, err := c.Revoke(ctx, "a 1", RevokeRequest{Reason: "lost"}); return err }},
		{"POST /api/v1/overwatch/agents/a1/revoke", `{"reason":"lost","lock_service":true}`, func() error {
			_, err := c.Revoke(ctx, "a1", RevokeRequest{Reason: "lost", LockService: true})
			return err
		}},
		{"DELETE /api/v1/overwatch/agents?dry_run=true&never_reported=true&service=app", "", func() error {
			_, err := c.UnpinMany(ctx, UnpinFilter{Service: "app", NeverReported: true}, true)
			return err
		}},
		{"DELETE /api/v1/overwatch/agents?pinned_since=2026-03-01T12%3A00%3A00Z&service=app", "", func() error {
			_, err := c.UnpinMany(ctx, UnpinFilter{Service: "app", PinnedSince: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
				false)
			return err
		}},
		{"GET /api/v1/overwatch/locks", "", func() error { _, err := c.TokenLocks(ctx); return err }},
		{"DELETE /api/v1/overwatch/locks/app", "", func() error { _, err := c.UnlockToken(ctx, "app"); return err }},
		{"GET /api/v1/overrides", "", func() error { _, err := c.Overrides(ctx); return err }},
		{"PUT /api/v1/overrides/app.example/%5B2001:db8::1%5D:80", `{"healthy":false,"reason":"r","expires_in":"30m"}`,
			func() error {
				_, err := c.SetOverride(ctx, "app.example", "[2001:db8::1]:80",
					OverrideRequest{Healthy: &healthy, Reason: "r", ExpiresIn: "30m"})
				return err
			}},
		{"DELETE /api/v1/overrides/app.example/192.0.2.1", "",
			func() error { return c.ClearOverride(ctx, "app.example", "192.0.2.1") }},
		{"POST /api/v1/overwatch/validate", "", func() error { _, err := c.Validate(ctx, ValidateTarget{}); return err }},
		{"POST /api/v1/overwatch/validate?address=192.0.2.1&port=80&service=app", "", func() error {
			_, err := c.Validate(ctx, ValidateTarget{Service: "app", Address: "192.0.2.1", Port: 80})
			return err
		}},
	} {
		if err := tc.call(); err != nil {
			t.Errorf("%s: %v", tc.line, err)
		}
		if line != tc.line || body != tc.body {
			t.Errorf("sent %s %s\nwant %s %s", line, body, tc.line, tc.body)
		}
	}
}

func TestClient_RefusesNamesThatNoPathCanCarry(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("request to %s", r.URL) })
	for _, name := range []string{"", ".", ".."} {
		if _, err := c.Agent(t.Context(), name); err == nil {
			t.Errorf("agent %q accepted", name)
		}
		if _, err := c.Domain(t.Context(), name); err == nil {
			t.Errorf("domain %q accepted", name)
		}
		if _, err := c.DomainBackends(t.Context(), name); err == nil {
			t.Errorf("backends of domain %q accepted", name)
		}
		if _, err := c.Unpin(t.Context(), name); err == nil {
			t.Errorf("unpin %q accepted", name)
		}
		if _, err := c.Revoke(t.Context(), name, RevokeRequest{Reason: "r"}); err == nil {
			t.Errorf("revoke %q accepted", name)
		}
		if _, err := c.SetOverride(t.Context(), "app", name, OverrideRequest{}); err == nil {
			t.Errorf("override on %q accepted", name)
		}
		if err := c.ClearOverride(t.Context(), name, "192.0.2.1"); err == nil {
			t.Errorf("clearing an override of %q accepted", name)
		}
	}
}

func TestClient_SendsItsTokenToTheNodeAndNobodyElse(t *testing.T) {
	var sent []string
	record := func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		answer(w, http.StatusOK, Health{})
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(record))
	t.Cleanup(elsewhere.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(sent) == 0 {
			record(w, r)
			return
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(srv.Close)
	c, err := NewClient(ClientOptions{Node: srv.URL, Token: "t0ken"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); err == nil || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("a redirect: %v", err)
	}
	if fmt.Sprint(sent) != "[Bearer t0ken]" {
		t.Errorf("sent %q", sent)
	}
}

func TestClient_TrustsTheAuthorityItIsGiven(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		answer(w, http.StatusOK, Health{})
	}))
	t.Cleanup(srv.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(srv.Certificate())
	for name, tc := range map[string]struct {
		config *tls.Config
		works  bool
	}{
		"the system's": {nil, false},
		"its own":      {&tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, true},
	} {
		c, err := NewClient(ClientOptions{Node: srv.URL, TLS: tc.config})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Health(t.Context()); (err == nil) != tc.works {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tag from a read makes a single change conditional.
func TestOnlyIf_AChangeOfWhatHasChangedIsRefused(t *testing.T) {
	tag, sent := `"one"`, []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Method+" "+r.Header.Get("If-Match"))
		w.Header().Set("Content-Type", "application/json")
		if match := r.Header.Get("If-Match"); match != "" && match != tag {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		w.Header().Set("ETag", tag)
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	c, err := NewClient(ClientOptions{Node: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var noted string
	if _, err := c.Domain(NoteTag(t.Context(), &noted), "a.example"); err != nil || noted != `"one"` {
		t.Fatalf("%q, %v", noted, err)
	}
	if _, err := c.ChangeDomain(OnlyIf(t.Context(), noted), "a.example", DomainChange{}); err != nil {
		t.Error(err)
	}
	tag = `"two"`
	failure, refused := errors.AsType[*Error](c.DeleteDomain(OnlyIf(t.Context(), noted), "a.example"))
	if !refused || failure.Status != http.StatusPreconditionFailed {
		t.Errorf("%v", failure)
	}
	if err := c.DeleteDomain(OnlyIf(t.Context(), ""), "a.example"); err != nil {
		t.Error(err)
	}
	if want := []string{"GET ", `PATCH "one"`, `DELETE "one"`, "DELETE "}; !slices.Equal(sent, want) {
		t.Errorf("%q, want %q", sent, want)
	}
}
