// Package signin authenticates people with an OIDC provider: the authorization code flow with PKCE (RFC 7636). The
// sessions of a node are in its memory. Requests to the provider run only during a sign-in and in Manager.Run, so that
// the provider never delays other requests. All types are safe for concurrent use.
package signin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/rs/zerolog"
	"golang.org/x/oauth2"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Limits of a sign-in.
const (
	FlowTimeout  = 10 * time.Minute // from Begin to Finish
	maxExchanges = 8                // concurrent requests to the token endpoint
	maxUsed      = 1000             // states of completed sign-ins, which the node rejects
	maxUsername  = 128              // bytes of the name of a person
	maxGroups    = 1000             // groups of a person
)

// actorPrefix distinguishes people from tokens in the audit log.
const actorPrefix = "oidc:"

// Refusal is a rejected sign-in, with an HTTP status and a text for the person.
type Refusal struct {
	Status int
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

func refusalf(status int, format string, args ...any) *Refusal {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Options configures a Manager. All fields are required.
type Options struct {
	Config config.OIDC
	Logger zerolog.Logger
	Now    func() time.Time
}

// Manager signs people in and has their sessions.
type Manager struct {
	o        Options
	secret   string // of the client; empty: a public client
	client   *http.Client
	key      [sha256.Size]byte // derives the values of a sign-in from its cookie
	found    atomic.Pointer[discovered]
	failure  atomic.Pointer[error] // of the last discover; nil after a success
	exchange chan struct{}         // one entry during each request to the token endpoint
	sessions sessions

	mu   sync.Mutex
	used map[string]time.Time // states that Finish has accepted, with their expiry
}

// New reads the client secret. It sends no request; Run does.
func New(o Options) (*Manager, error) {
	secret, err := readSecret(o.Config.ClientSecretFile)
	if err != nil {
		return nil, err
	}
	m := &Manager{o: o, secret: secret, client: newClient(), exchange: make(chan struct{}, maxExchanges),
		sessions: sessions{all: map[[sha256.Size]byte]*Session{}}, used: map[string]time.Time{}}
	_, _ = rand.Read(m.key[:]) // never fails (crypto/rand)
	return m, nil
}

// derive returns a value of a sign-in for a purpose: its state, nonce or PKCE verifier.
func (m *Manager) derive(purpose string, flow []byte) string {
	mac := hmac.New(sha256.New, m.key[:])
	mac.Write([]byte(purpose + ":"))
	mac.Write(flow)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Begin returns the URL of the provider for a sign-in, and the value of its cookie, which Finish requires.
func (m *Manager) Begin() (to, cookie string, err error) {
	p, err := m.provider()
	if err != nil {
		return "", "", err
	}
	flow := make([]byte, idSize, idSize+8)
	_, _ = rand.Read(flow) // never fails (crypto/rand)
	flow = binary.BigEndian.AppendUint64(flow, uint64(m.o.Now().Add(FlowTimeout).Unix()))
	to = p.oauth.AuthCodeURL(m.derive("state", flow), oidc.Nonce(m.derive("nonce", flow)),
		oauth2.S256ChallengeOption(m.derive("verifier", flow)))
	return to, base64.RawURLEncoding.EncodeToString(flow), nil
}

// Finish completes a sign-in with the answer of the provider, and returns the id of the new session.
func (m *Manager) Finish(ctx context.Context, cookie string, answer url.Values) (id string, made *Session, err error) {
	flow, err := m.checkState(cookie, answer)
	if err != nil {
		return "", nil, err
	}
	p, err := m.provider()
	if err != nil {
		return "", nil, err
	}
	select {
	case m.exchange <- struct{}{}:
		defer func() { <-m.exchange }()
	default:
		return "", nil, refusalf(http.StatusServiceUnavailable, "%d sign-ins run at this time: try again", maxExchanges)
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, m.client), 2*providerTimeout)
	defer cancel()
	token, err := p.oauth.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(m.derive("verifier", flow)))
	if err != nil {
		return "", nil, m.failed("the OIDC provider rejected the code, or cannot be reached", err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return "", nil, m.failed("the ID token of the OIDC provider is invalid", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(m.derive("nonce", flow))) != 1 {
		return "", nil, refusalf(http.StatusBadGateway, "the ID token has another nonce: it belongs to another sign-in")
	}
	if made, err = m.admit(verified); err != nil {
		return "", nil, err
	}
	m.o.Logger.Info().Str("person", made.Person).Str("role", string(made.Role)).Time("ends", made.Ends).
		Msg("a person has signed in")
	return m.sessions.add(made), made, nil
}

// failed logs a failure of the provider and returns the refusal.
func (m *Manager) failed(text string, err error) error {
	m.o.Logger.Warn().Str("issuer", m.o.Config.Issuer).Str("cause", bounded(err)).Msg("sign-in failed: " + text)
	return refusalf(http.StatusBadGateway, "%s: %s. Try again later, or use a token.", text, bounded(err))
}

// checkState checks that the answer belongs to the sign-in of the cookie, and is the first answer.
func (m *Manager) checkState(cookie string, answer url.Values) (flow []byte, err error) {
	again := refusalf(http.StatusBadRequest, "the sign-in has expired, or began in another browser: sign in again")
	flow, err = base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(flow) != idSize+8 {
		return nil, again
	}
	state := m.derive("state", flow)
	ends := time.Unix(int64(binary.BigEndian.Uint64(flow[idSize:])), 0)
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) != 1 || !m.o.Now().Before(ends) {
		return nil, again
	}
	if issuer := answer.Get("iss"); issuer != "" && issuer != m.o.Config.Issuer { // RFC 9207
		return nil, refusalf(http.StatusBadRequest, "the answer is from the issuer %.260q, but the sign-in began at %s",
			issuer, m.o.Config.Issuer)
	}
	if !m.use(state, ends) {
		return nil, refusalf(http.StatusBadRequest, "the answer of the provider was already used: sign in again")
	}
	if code := answer.Get("error"); code != "" {
		return nil, refusalf(http.StatusForbidden, "the OIDC provider rejected the sign-in: %.64q %.260q", code,
			answer.Get("error_description"))
	}
	if answer.Get("code") == "" {
		return nil, refusalf(http.StatusBadRequest, "the answer of the OIDC provider has no code: sign in again")
	}
	return flow, nil
}

// use records a state until its expiry. It returns false for a recorded state. Above maxUsed states, it removes the
// state that expires first.
func (m *Manager) use(state string, ends time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, before := m.used[state]; before {
		return false
	}
	now := m.o.Now()
	maps.DeleteFunc(m.used, func(_ string, ends time.Time) bool { return !now.Before(ends) })
	if len(m.used) >= maxUsed {
		delete(m.used, slices.MinFunc(slices.Collect(maps.Keys(m.used)),
			func(a, b string) int { return m.used[a].Compare(m.used[b]) }))
	}
	m.used[state] = ends
	return true
}

// admit returns a session for the person of a verified ID token, with the role and scope of the first entry of
// api.oidc.roles with a group of the person.
func (m *Manager) admit(token *oidc.IDToken) (*Session, error) {
	cfg := &m.o.Config
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return nil, m.failed("the claims of the ID token cannot be read", err)
	}
	if party, _ := claims["azp"].(string); len(token.Audience) > 1 && party != cfg.ClientID {
		return nil, refusalf(http.StatusBadGateway, "the ID token is for another client: azp is %.260q", party)
	}
	name, _ := claims[cfg.UsernameClaim].(string)
	if !isUsername(name) {
		return nil, refusalf(http.StatusForbidden, "the claim %s of the ID token is %.130q: a name of 1 to %d printable "+
			"characters is required (api.oidc.username_claim)", cfg.UsernameClaim, fmt.Sprint(claims[cfg.UsernameClaim]),
			maxUsername)
	}
	if verified, given := claims["email_verified"].(bool); cfg.UsernameClaim == "email" && given && !verified {
		return nil, refusalf(http.StatusForbidden, "the provider has not verified the address %s", name)
	}
	groups, err := groupsOf(claims[cfg.GroupsClaim])
	if err != nil {
		return nil, refusalf(http.StatusForbidden, "the claim %s of the ID token %s", cfg.GroupsClaim, err.Error())
	}
	for i := range cfg.Roles {
		r := &cfg.Roles[i]
		if slices.Contains(groups, r.Group) {
			now := m.o.Now()
			return &Session{Person: actorPrefix + name, Role: api.Role(r.Role), Scope: (*model.TokenScope)(&r.Scope),
				Begins: now, Ends: now.Add(cfg.SessionLifetime), subject: token.Subject}, nil
		}
	}
	return nil, refusalf(http.StatusForbidden, "%s has no access: none of the %d groups in the claim %s is in "+
		"api.oidc.roles", name, len(groups), cfg.GroupsClaim)
}

// isUsername reports whether a text can be the name of a person.
func isUsername(name string) bool {
	return name != "" && len(name) <= maxUsername && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// groupsOf returns the groups of a claim: a list of texts, or one text. A missing claim has no groups.
func groupsOf(claim any) (groups []string, err error) {
	switch value := claim.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{value}, nil
	case []any:
		if len(value) > maxGroups {
			return nil, fmt.Errorf("has %d groups: at most %d are allowed", len(value), maxGroups)
		}
		for _, one := range value {
			group, is := one.(string)
			if !is {
				return nil, fmt.Errorf("has a group of type %T: it must be a list of texts", one)
			}
			groups = append(groups, group)
		}
		return groups, nil
	}
	return nil, fmt.Errorf("is a %T: it must be a list of texts", claim)
}

// Session returns the session with an id, or nil if it has ended.
func (m *Manager) Session(id string) *Session { return m.sessions.get(id, m.o.Now()) }

// End ends a session.
func (m *Manager) End(id string) { m.sessions.end(id) }
