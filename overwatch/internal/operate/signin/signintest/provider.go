// Package signintest has an OIDC provider for tests, which signs real ID tokens.
package signintest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// ClientID is the id of the client of the provider.
const ClientID = "gslb"

// Provider is an OIDC provider. A test must set its fields before the sign-in; Huge at any time.
type Provider struct {
	*httptest.Server
	Claims map[string]any // replace the claims of the ID tokens; nil values remove claims
	Alg    string         // of the ID token: RS256, none or HS256
	Forge  bool           // signs with a key that the provider does not publish
	Huge   atomic.Value   // string: path with a response of more than 1 MiB

	key, other *rsa.PrivateKey
	mu         sync.Mutex
	codes      map[string]url.Values // parameters of the authorization request by code
}

// New starts a provider, which ends with the test.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{Alg: "RS256", Claims: map[string]any{}, codes: map[string]url.Values{}}
	for _, key := range []**rsa.PrivateKey{&p.key, &p.other} {
		made, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		*key = made
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func encoded(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == p.Huge.Load() {
		_, _ = w.Write([]byte(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth",
			"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"}})
	case "/keys":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "1", "alg": "RS256",
			"use": "sig", "n": encoded(p.key.N.Bytes()), "e": encoded(big.NewInt(int64(p.key.E)).Bytes())}}})
	case "/token":
		p.exchange(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// exchange answers the token request for a code, which is valid once.
func (p *Provider) exchange(w http.ResponseWriter, r *http.Request) {
	code := r.FormValue("code")
	p.mu.Lock()
	asked, known := p.codes[code]
	delete(p.codes, code)
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || asked.Get("code_challenge") != encoded(sum[:]) || asked.Get("code_challenge_method") != "S256" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": "invalid_grant"})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "a", "token_type": "bearer",
		"id_token": p.token(asked.Get("nonce"))})
}

// token returns an ID token.
func (p *Provider) token(nonce string) string {
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "sub": "1", "nonce": nonce,
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "email": "ada@example.com",
		"email_verified": true, "groups": []string{"staff", "operators"}}
	maps.Copy(claims, p.Claims)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	header, _ := json.Marshal(map[string]string{"alg": p.Alg, "kid": "1"})
	payload, _ := json.Marshal(claims)
	text := encoded(header) + "." + encoded(payload)
	if p.Alg != "RS256" {
		return text + "."
	}
	key, sum := p.key, sha256.Sum256([]byte(text))
	if p.Forge {
		key = p.other
	}
	signature, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + encoded(signature)
}

// Authorize signs a person in for an authorization request, and returns the parameters of the redirect.
func (p *Provider) Authorize(t testing.TB, request string) url.Values {
	t.Helper()
	u, err := url.Parse(request)
	if err != nil || !strings.HasPrefix(request, p.URL+"/auth?") {
		t.Fatalf("the request is %q: %v", request, err)
	}
	q := u.Query()
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}
