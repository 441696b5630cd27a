package signin_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/operate/signin"
	"gslb.internal/overwatch/internal/operate/signin/signintest"
	"gslb.internal/overwatch/internal/state/config"
)

// world is a Manager with a provider and a clock.
type world struct {
	*testing.T
	provider *signintest.Provider
	manager  *signin.Manager
	offset   atomic.Int64 // of the clock
}

func newWorld(t *testing.T, adjust ...func(*config.OIDC)) *world {
	t.Helper()
	w := &world{T: t, provider: signintest.New(t)}
	cfg := config.Default().API.OIDC
	cfg.Issuer, cfg.ClientID = w.provider.URL, signintest.ClientID
	cfg.RedirectURL = "http://localhost:8080" + config.CallbackPath
	cfg.Roles = []config.OIDCRole{{Group: "admins", Role: "admin"},
		{Group: "operators", Role: "operate", Scope: config.OIDCScope{Zones: []string{"example.com"}}},
		{Group: "staff", Role: "read"}}
	for _, f := range adjust {
		f(&cfg)
	}
	var err error
	w.manager, err = signin.New(signin.Options{Config: cfg, Logger: zerolog.Nop(),
		Now: func() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.manager.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

// begin returns a sign-in, as soon as the provider is known.
func (w *world) begin() (to, cookie string) {
	w.Helper()
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-retry.C {
		to, cookie, err := w.manager.Begin()
		if err == nil {
			return to, cookie
		}
		if time.Now().After(end) {
			w.Fatal(err)
		}
	}
}

func (w *world) signIn() (string, *signin.Session, error) {
	w.Helper()
	to, cookie := w.begin()
	return w.manager.Finish(w.Context(), cookie, w.provider.Authorize(w, to))
}

// refused checks the status and the text of a refusal.
func (w *world) refused(err error, status int, parts ...string) {
	w.Helper()
	var refused *signin.Refusal
	if !errors.As(err, &refused) || refused.Status != status {
		w.Fatalf("got %v, want a refusal with the status %d", err, status)
	}
	for _, part := range parts {
		if !strings.Contains(refused.Text, part) {
			w.Errorf("%q lacks %q", refused.Text, part)
		}
	}
}

// The first entry of the roles with a group of the person applies.
func TestSignIn_SessionHasRoleAndScope(t *testing.T) {
	w := newWorld(t)
	id, made, err := w.signIn()
	if err != nil {
		t.Fatal(err)
	}
	if made.Person != "oidc:ada@example.com" || made.Role != "operate" || made.Scope.Zones[0] != "example.com" {
		t.Errorf("got %+v", made)
	}
	if w.manager.Session(id) != made {
		t.Error("the session is unknown")
	}
	w.offset.Store(int64(8 * time.Hour))
	if w.manager.Session(id) != nil {
		t.Error("the session is valid after its end")
	}
	w.offset.Store(0)
	w.manager.End(id)
	if w.manager.Session(id) != nil {
		t.Error("the session is valid after the sign-out")
	}
}

func TestSignIn_RejectsTokens(t *testing.T) {
	for name, tc := range map[string]struct {
		claims map[string]any
		alg    string
		forged bool
		status int
		text   string
	}{
		"another nonce":     {map[string]any{"nonce": "x"}, "RS256", false, 502, "nonce"},
		"no nonce":          {map[string]any{"nonce": nil}, "RS256", false, 502, "nonce"},
		"expired":           {map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, "RS256", false, 502, "expired"},
		"another audience":  {map[string]any{"aud": "other"}, "RS256", false, 502, "audience"},
		"another party":     {map[string]any{"aud": []string{"gslb", "x"}, "azp": "x"}, "RS256", false, 502, "azp"},
		"another issuer":    {map[string]any{"iss": "https://evil.example"}, "RS256", false, 502, "provider"},
		"unsigned":          {nil, "none", false, 502, "invalid"},
		"another algorithm": {nil, "HS256", false, 502, "invalid"},
		"another key":       {nil, "RS256", true, 502, "signature"},
		"no group":          {map[string]any{"groups": nil}, "RS256", false, 403, "none of the 0 groups"},
		"unmapped group":    {map[string]any{"groups": []string{"x"}}, "RS256", false, 403, "api.oidc.roles"},
		"groups of numbers": {map[string]any{"groups": []int{1}}, "RS256", false, 403, "list of texts"},
		"too many groups":   {map[string]any{"groups": make([]string, 1001)}, "RS256", false, 403, "1001 groups"},
		"no name":           {map[string]any{"email": nil}, "RS256", false, 403, "api.oidc.username_claim"},
		"control character": {map[string]any{"email": "a\nb"}, "RS256", false, 403, "printable"},
		"long name":         {map[string]any{"email": strings.Repeat("a", 129)}, "RS256", false, 403, "128"},
		"unverified":        {map[string]any{"email_verified": false}, "RS256", false, 403, "not verified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.provider.Claims, w.provider.Alg, w.provider.Forge = tc.claims, tc.alg, tc.forged
			_, _, err := w.signIn()
			w.refused(err, tc.status, tc.text)
		})
	}
}

// An answer is valid once, within ten minutes, and with the cookie of its sign-in.
func TestSignIn_RejectsAnswers(t *testing.T) {
	w := newWorld(t)
	to, cookie := w.begin()
	_, other := w.begin()
	answer := w.provider.Authorize(t, to)
	finish := func(cookie string, answer url.Values) error {
		_, _, err := w.manager.Finish(t.Context(), cookie, answer)
		return err
	}
	w.refused(finish("", answer), http.StatusBadRequest, "sign in again")
	w.refused(finish(other, answer), http.StatusBadRequest, "another browser")
	w.refused(finish(cookie, url.Values{"code": answer["code"], "state": {"x"}}), http.StatusBadRequest)
	w.refused(finish(cookie, url.Values{"code": answer["code"], "state": answer["state"], "iss": {"https://evil.example"}}),
		http.StatusBadRequest, "evil.example")
	w.offset.Store(int64(signin.FlowTimeout + time.Second))
	w.refused(finish(cookie, answer), http.StatusBadRequest, "expired")
	w.offset.Store(0)
	if err := finish(cookie, answer); err != nil {
		t.Fatal(err)
	}
	w.refused(finish(cookie, answer), http.StatusBadRequest, "already used")
	next, cookie := w.begin()
	state := w.provider.Authorize(t, next)
	w.refused(finish(cookie, url.Values{"code": answer["code"], "state": state["state"]}), http.StatusBadGateway,
		"invalid_grant")
	next, cookie = w.begin()
	state = w.provider.Authorize(t, next)
	w.refused(finish(cookie, url.Values{"error": {"access_denied"}, "state": state["state"]}), http.StatusForbidden,
		"access_denied")
}

func TestSignIn_ProviderIsDown(t *testing.T) {
	w := newWorld(t)
	id, _, err := w.signIn()
	if err != nil {
		t.Fatal(err)
	}
	to, cookie := w.begin()
	answer := w.provider.Authorize(t, to)
	w.provider.Close()
	_, _, err = w.manager.Finish(t.Context(), cookie, answer)
	w.refused(err, http.StatusBadGateway, "use a token")
	if w.manager.Session(id) == nil {
		t.Error("the session has ended")
	}
	never := newWorld(t, func(o *config.OIDC) { o.Issuer = w.provider.URL })
	_, _, err = never.manager.Begin()
	never.refused(err, http.StatusServiceUnavailable, "cannot be used", w.provider.URL)
}

func TestSignIn_RejectsHugeResponses(t *testing.T) {
	for path, status := range map[string]int{"/token": 502, "/keys": 502} {
		w := newWorld(t)
		w.provider.Huge.Store(path)
		_, _, err := w.signIn()
		w.refused(err, status, "too large")
	}
}

func TestNew_RejectsOpenSecretFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	open := func(text string, mode os.FileMode) error {
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		_, err := signin.New(signin.Options{Config: config.OIDC{ClientSecretFile: path}, Now: time.Now})
		return err
	}
	if err := open("secret\n", 0o600); err != nil {
		t.Error(err)
	}
	for text, mode := range map[string]os.FileMode{"secret": 0o644, "secrets": 0o620, "\n": 0o600,
		strings.Repeat("x", 5000): 0o600} {
		if err := open(text, mode); err == nil || !strings.Contains(err.Error(), "api.oidc.client_secret_file") ||
			strings.Contains(err.Error(), "secrets") {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// A person has at most eight sessions; a further session ends the oldest.
func TestSignIn_SessionsAreBounded(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for range 9 {
		id, _, err := w.signIn()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if w.manager.Session(ids[0]) != nil || w.manager.Session(ids[1]) == nil || w.manager.Session(ids[8]) == nil {
		t.Error("the oldest session is valid, or another session has ended")
	}
}
