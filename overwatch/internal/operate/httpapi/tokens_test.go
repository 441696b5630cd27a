package httpapi // inside: it looks at least and path

import (
	"net/http"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// tokenOf returns the token of a role in a world with tokens.
func tokenOf(role string) string { return role + "-token-of-more-than-thirty-two-characters" }

// withTokens adds one token of each role to a world.
func withTokens(w *world) {
	one := func(role string) map[string]settings.Secret {
		return map[string]settings.Secret{"the-" + role: settings.Secret(tokenOf(role))}
	}
	cfg := *w.cfg.Load()
	cfg.API.Tokens = config.Tokens{Read: one("read"), Operate: one("operate"), Admin: one("admin")}
	w.cfg.Store(&cfg)
}

func TestTokens_EachRoleMayDoWhatTheTableSays(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	const create = `{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu"}`
	for _, tc := range []struct {
		method, path, body string
		least              string // "" means no token
	}{
		{"GET", "/api/health", "", ""},
		{"GET", "/api/v1/ready", "", ""},
		{"GET", "/api/v1/openapi.json", "", ""},
		{"GET", "/api/docs", "", ""},
		{"GET", "/api/v1/dnssec/keys", "", ""},
		{"GET", "/api/v1/servers", "", "read"},
		{"HEAD", "/api/v1/servers", "", "read"},
		{"POST", "/api/v1/routing/test", `{"domain":"app.example","client_ip":"192.0.2.1"}`, "read"},
		{"GET", "/", "", ""},
		{"GET", "/api/v1/audit-logs/export", "", "read"},
		{"PUT", overridePath, `{"healthy":true,"reason":"r"}`, "operate"},
		{"POST", "/api/v1/servers/" + service + ":192.0.2.1:80/drain", "", "operate"},
		{"POST", "/api/v1/servers", create, "admin"},
		{"DELETE", "/api/v1/domains/" + service, "", "admin"},
		{"POST", "/api/v1/config/reload", "", "admin"},
		{"POST", "/api/v1/gossip/generate-key", "", "admin"},
	} {
		allowed := tc.least == ""
		for _, role := range []string{"", "read", "operate", "admin"} {
			allowed = allowed || role == tc.least
			header := []string{}
			if role != "" {
				header = []string{"Authorization", "Bearer " + tokenOf(role)}
			}
			r := w.send(tc.method, tc.path, tc.body, header...)
			refused := r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
			if refused == allowed {
				t.Errorf("%s %s with role %q: %d %s", tc.method, tc.path, role, r.status, r.body)
			}
			if want := http.StatusForbidden; refused && role != "" && r.status != want {
				t.Errorf("%s %s with role %q: %d, want %d", tc.method, tc.path, role, r.status, want)
			}
			if refused && !strings.HasPrefix(r.header.Get("WWW-Authenticate"), `Bearer realm="gslb"`) {
				t.Errorf("%s %s: WWW-Authenticate is %q", tc.method, tc.path, r.header.Get("WWW-Authenticate"))
			}
		}
	}
}

func TestTokens_WhatIsNotOneIsRefused(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	good := tokenOf("admin")
	for name, value := range map[string]string{
		"unknown": "Bearer " + strings.Repeat("x", 40), "empty": "Bearer ", "no scheme": good, "basic": "Basic " + good,
		"a part": "Bearer " + good[:len(good)-1],
		"more":   "Bearer " + good + "x", "two": "Bearer " + good + " " + good,
		"upper case": "Bearer " + strings.ToUpper(good),
		"name":       "Bearer the-admin", "redacted": "Bearer [redacted]",
		"huge": "Bearer " + strings.Repeat("y", 8000),
	} {
		r := w.send("GET", "/api/v1/servers", "", "Authorization", value)
		w.wantError(name, r, 401, "api.tokens")
		if strings.Contains(r.body, good) {
			t.Errorf("%s: the answer has the token", name)
		}
	}
	w.wantError("a path that does not exist", w.send("GET", "/api/v1/nothing", ""), 401)
	w.wantError("such a path, known", w.send("GET", "/api/v1/nothing", "", "Authorization", "bearer "+good), 404)
	if r, err := w.raw("GET /api/v1/servers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + good +
		"\r\nAuthorization: Bearer " + good + "\r\nConnection: close\r\n\r\n"); err != nil || r.status != 401 {
		t.Errorf("two headers: %d, %v", r.status, err)
	}
	if strings.Contains(w.log.String(), "token-of-more") {
		t.Error("a token is in the log")
	}
}

func TestTokens_TheirOwnerIsInTheAuditLogAndAReloadChangesThem(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	put := func(role string) int {
		return w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`, "Authorization", "Bearer "+tokenOf(role)).status
	}
	if status := put("operate"); status != 200 {
		t.Fatal(status)
	}
	for e, err := range w.audit.Newest(audit.Changes) {
		if err != nil || e.Actor != "the-operate" || e.ActorIP != "127.0.0.1" {
			t.Errorf("audit entry %+v, %v", e, err)
		}
		break
	}
	cfg := *w.cfg.Load()
	cfg.API.Tokens.Operate = nil
	w.cfg.Store(&cfg)
	if status := put("operate"); status != 401 {
		t.Errorf("a token that was taken away: %d", status)
	}
	if status := put("admin"); status != 200 {
		t.Errorf("one that stayed: %d", status)
	}
}

// TestTokens_PreflightNeedsNone checks that preflight requests, which browsers send without a token, are answered.
func TestTokens_PreflightNeedsNone(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.EnableCORS = true })
	withTokens(w)
	r := w.send("OPTIONS", "/api/v1/servers", "", "Origin", "https://any.example", "Access-Control-Request-Method", "PUT")
	if r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestTokens_WithoutAnyNobodyLooksAtThem(t *testing.T) {
	w := newWorld(t)
	w.want("GET", w.send("GET", "/api/v1/servers", "", "Authorization", "Bearer whatever"), 200)
}
