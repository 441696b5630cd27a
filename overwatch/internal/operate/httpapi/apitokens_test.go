package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// bearerOf returns the header of a token.
func bearerOf(token string) []string { return []string{"Authorization", "Bearer " + token} }

// withFileTokens is withTokens, and adds the tokens to the configuration file.
func withFileTokens(w *world) {
	withTokens(w)
	w.defined.mu.Lock()
	defer w.defined.mu.Unlock()
	file := *w.defined.file
	file.API.Tokens = w.cfg.Load().API.Tokens
	w.defined.file = &file
}

// createToken creates a token and returns its secret.
func createToken(w *world, body string) string {
	w.t.Helper()
	r := w.send("POST", "/api/v1/tokens", body, bearerOf(tokenOf("admin"))...)
	var made api.TokenSecret
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != http.StatusCreated || made.Secret == "" {
		w.t.Fatalf("POST /tokens %s: %d %s", body, r.status, r.body)
	}
	return made.Secret
}

func TestAPITokens_ATokenHasItsRoleUntilItIsRevoked(t *testing.T) {
	w := newWorld(t)
	withFileTokens(w)
	secret := createToken(w, `{"name":"ci","role":"operate"}`)
	put := func(token string) int {
		return w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`, bearerOf(token)...).status
	}
	if got := put(secret); got != 200 {
		t.Errorf("a token of role operate: %d", got)
	}
	w.wantError("admin", w.send("POST", "/api/v1/config/reload", "", bearerOf(secret)...), 403, "ci has role operate")
	for e, err := range w.audit.Newest(audit.Changes) {
		if err != nil || e.Actor != "ci" {
			t.Errorf("audit entry %+v, %v", e, err)
		}
		break
	}
	if r := w.send("DELETE", "/api/v1/tokens/ci", "", bearerOf(tokenOf("admin"))...); r.status != 204 {
		t.Fatalf("revoke: %d %s", r.status, r.body)
	}
	if got := put(secret); got != 401 {
		t.Errorf("a revoked token: %d", got)
	}
	if got := put(tokenOf("operate")); got != 200 {
		t.Errorf("a token of the file: %d", got)
	}
}

func TestAPITokens_RotationKeepsThePreviousSecretForTheOverlapOnly(t *testing.T) {
	now := time.Now()
	w := newWorld(t, func(o *Options) { o.Now = func() time.Time { return now } })
	withFileTokens(w)
	first := createToken(w, `{"name":"ci"}`)
	rotate := func(body string) string {
		r := w.send("POST", "/api/v1/tokens/ci/rotate", body, bearerOf(tokenOf("admin"))...)
		var made api.TokenSecret
		if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != 200 {
			t.Fatalf("rotate: %d %s", r.status, r.body)
		}
		return made.Secret
	}
	get := func(token string) int { return w.send("GET", "/api/v1/servers", "", bearerOf(token)...).status }
	second := rotate(`{"overlap":"1h"}`)
	if first == second || get(first) != 200 || get(second) != 200 {
		t.Errorf("within the overlap: %d and %d", get(first), get(second))
	}
	now = now.Add(61 * time.Minute)
	if get(first) != 401 || get(second) != 200 {
		t.Errorf("after the overlap: %d and %d", get(first), get(second))
	}
	third := rotate("")
	if get(second) != 401 || get(third) != 200 {
		t.Errorf("without an overlap: %d and %d", get(second), get(third))
	}
	w.wantError("a long overlap", w.send("POST", "/api/v1/tokens/ci/rotate", `{"overlap":"169h"}`,
		bearerOf(tokenOf("admin"))...), 400, "168h")
}

func TestAPITokens_AnExpiredTokenIsRejectedAndListed(t *testing.T) {
	now := time.Now()
	w := newWorld(t, func(o *Options) { o.Now = func() time.Time { return now } })
	withFileTokens(w)
	secret := createToken(w, `{"name":"ci","expires_at":"`+now.Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
	w.want("before", w.send("GET", "/api/v1/servers", "", bearerOf(secret)...), 200)
	now = now.Add(time.Hour)
	w.wantError("after", w.send("GET", "/api/v1/servers", "", bearerOf(secret)...), 401, "ci has expired", "create another")
	w.want("list", w.send("GET", "/api/v1/tokens", "", bearerOf(tokenOf("admin"))...), 200, `"status":"expired"`)
}

// Only the answer to the creation or rotation has the secret: no other answer, and no log.
func TestAPITokens_SecretsAreNowhereElse(t *testing.T) {
	w := newWorld(t)
	withFileTokens(w)
	admin := bearerOf(tokenOf("admin"))
	bearer := createToken(w, `{"name":"ci","role":"admin"}`)
	key := createToken(w, `{"name":"acme.example","type":"tsig","algorithm":"hmac-sha512"}`)
	set, _ := w.defined.Defined()
	secrets := []string{bearer, key, set.Tokens["ci"].Hash}
	w.want("rotate", w.send("POST", "/api/v1/tokens/ci/rotate", "", admin...), 200)
	w.want("revoke", w.send("DELETE", "/api/v1/tokens/ci", "", admin...), 204)
	for _, o := range Operations() {
		if o.Method != http.MethodGet {
			continue
		}
		r := w.send("GET", examplePath(&o), "", admin...)
		for _, secret := range secrets {
			if strings.Contains(r.body, secret) {
				t.Errorf("%s has a secret: %s", o.Path, r.body)
			}
		}
	}
	for _, path := range []string{"/api/v1/tokens/acme.example", "/api/v1/audit-logs?limit=1000", "/api/v1/audit-logs/export"} {
		r := w.send("GET", path, "", admin...)
		if r.status != 200 || strings.Contains(r.body, key) || strings.Contains(r.body, bearer) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(w.log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
	w.wantError("undo", w.send("POST", "/api/v1/audit-logs/last/undo", "", admin...), 409, "an undo requires")
}

func TestAPITokens_InvalidRequestsNameTheRemedy(t *testing.T) {
	w := newWorld(t)
	withFileTokens(w)
	for body, word := range map[string]string{
		`{}`:                          "name",
		`{"name":"a b"}`:              "letters, digits",
		`{"name":"ci","role":"root"}`: "read, operate or admin",
		`{"name":"ci","type":"jwt"}`:  "bearer or tsig",
		`{"name":"ci","algorithm":"hmac-sha256"}`:                             "type tsig",
		`{"name":"ci","type":"tsig","role":"read","algorithm":"hmac-sha256"}`: "must be admin",
		`{"name":"ci","type":"tsig"}`:                                         "hmac-sha256 or hmac-sha512",
		`{"name":"A.example","type":"tsig","algorithm":"hmac-sha256"}`:        "lower case",
		`{"name":"ci","hash":"00"}`:                                           "unknown field",
		`{"name":"ci","secret":"00"}`:                                         "unknown field",
		`{"name":"ci","scope":{"kinds":["domains"]}}`:                         "domain",
		`{"name":"ci","scope":{"names":["A.example"]}}`:                       "a.example",
		`{"name":"ci","scope":{"zones":["*.example"]}}`:                       "zones",
		`{"name":"ci","scope":{"actions":["write"]}}`:                         "read, operate, define",
		`{"name":"ci","scope":{"labels":["x"]}}`:                              "unknown field",
		`{"name":"ci","expires_at":"2020-01-01T00:00:00Z"}`:                   "later than now",
	} {
		w.wantError(body, w.send("POST", "/api/v1/tokens", body, bearerOf(tokenOf("admin"))...), 400, word)
	}
	w.wantError("a token of the file", w.send("POST", "/api/v1/tokens", `{"name":"the-read"}`,
		bearerOf(tokenOf("admin"))...), 409, "api.tokens")
	createToken(w, `{"name":"ci"}`)
	w.wantError("twice", w.send("POST", "/api/v1/tokens", `{"name":"ci"}`, bearerOf(tokenOf("admin"))...), 409, "rotate")
	w.wantError("an unknown token", w.send("DELETE", "/api/v1/tokens/other", "", bearerOf(tokenOf("admin"))...), 404)
}

// A node with an open API stays usable: a token can exist only if a token of the file remains valid.
func TestAPITokens_ARequestRequiresAnAdminTokenInTheFile(t *testing.T) {
	w := newWorld(t)
	w.wantError("without", w.send("POST", "/api/v1/tokens", `{"name":"ci"}`), 409, "api.tokens.admin")
	withFileTokens(w)
	secret := createToken(w, `{"name":"ci"}`)
	cfg := *w.cfg.Load()
	cfg.API.Tokens.Read, cfg.API.Tokens.Operate, cfg.API.Tokens.Admin = nil, nil, nil
	w.cfg.Store(&cfg)
	w.wantError("no token", w.send("GET", "/api/v1/servers", ""), 401)
	w.want("the token of the API", w.send("GET", "/api/v1/servers", "", bearerOf(secret)...), 200)
}

func TestAPITokens_OnlyAdminTokensWithoutLimitsManageTokens(t *testing.T) {
	w := newWorld(t)
	withFileTokens(w)
	limited := createToken(w, `{"name":"limited","role":"admin","scope":{"zones":["example"]}}`)
	reader := createToken(w, `{"name":"reader","role":"admin","scope":{"actions":["read"]}}`)
	for _, token := range []string{limited, reader, tokenOf("read"), tokenOf("operate")} {
		for _, path := range []string{"GET /api/v1/tokens", "GET /api/v1/tokens/limited",
			"POST /api/v1/tokens/limited/rotate", "DELETE /api/v1/tokens/limited"} {
			method, target, _ := strings.Cut(path, " ")
			w.wantError(path, w.send(method, target, "", bearerOf(token)...), 403)
		}
		w.wantError("POST", w.send("POST", "/api/v1/tokens", `{"name":"more","role":"admin"}`, bearerOf(token)...), 403)
	}
	set, _ := w.defined.Defined()
	if len(set.Tokens) != 2 || set.Tokens["limited"].Type != model.TokenBearer {
		t.Errorf("tokens: %+v", set.Tokens)
	}
}
