package httpapi // inside: it uses newWorld

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/operate/signin/signintest"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// people is an API with a provider, and the browser of a person.
type people struct {
	*world
	provider *signintest.Provider
	browser  *http.Client
	cookies  map[string]*http.Cookie
}

func newPeople(t *testing.T) *people {
	t.Helper()
	p := &people{provider: signintest.New(t), cookies: map[string]*http.Cookie{},
		browser: &http.Client{Timeout: deadline, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}}
	p.world = newWorld(t, func(o *Options) {
		oidc := &o.API.OIDC
		oidc.Issuer, oidc.ClientID = p.provider.URL, signintest.ClientID
		oidc.RedirectURL = "http://localhost" + config.CallbackPath
		oidc.Roles = []config.OIDCRole{{Group: "operators", Role: "operate",
			Scope: config.OIDCScope{Names: []string{service}}}}
	})
	cfg := *p.cfg.Load()
	cfg.API.Tokens.Admin = map[string]settings.Secret{"root": token}
	p.cfg.Store(&cfg)
	return p
}

// ask sends a request with the cookies of the browser, and stores the cookies of the answer.
func (p *people) ask(method, path string, header ...string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, http.NoBody)
	p.must(err)
	for _, c := range p.cookies {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := p.browser.Do(r)
	p.must(err)
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		p.cookies[c.Name] = c
		if c.MaxAge < 0 {
			delete(p.cookies, c.Name)
		}
		if !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || !strings.HasPrefix(c.Name, "__Host-") {
			p.t.Errorf("the cookie is %v", c)
		}
	}
	body, err := io.ReadAll(resp.Body)
	p.must(err)
	return resp, string(body)
}

// begin returns the URL of the provider for a sign-in.
func (p *people) begin() string {
	p.t.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(10 * time.Millisecond) {
		resp, body := p.ask("GET", "/auth/sign-in?next=https://evil.example/")
		if resp.StatusCode == http.StatusSeeOther {
			return resp.Header.Get("Location")
		}
		if time.Now().After(end) {
			p.t.Fatalf("%d %s", resp.StatusCode, body)
		}
	}
}

func (p *people) finish(answer url.Values) (*http.Response, string) {
	p.t.Helper()
	return p.ask("GET", config.CallbackPath+"?"+answer.Encode())
}

// status checks the status and a part of the body of a response.
func (p *people) status(what string, want int, part string) func(*http.Response, string) {
	return func(resp *http.Response, body string) {
		p.t.Helper()
		if resp.StatusCode != want || !strings.Contains(body, part) {
			p.t.Errorf("%s: got %d %s; want %d and %q", what, resp.StatusCode, body, want, part)
		}
	}
}

func TestSignIn_SessionOpensTheAPI(t *testing.T) {
	p := newPeople(t)
	p.status("before", 401, "this needs a token")(p.ask("GET", "/api/v1/servers"))
	p.status("status before", 200, `"sign_in":true`)(p.ask("GET", "/auth/session"))
	resp, body := p.finish(p.provider.Authorize(t, p.begin()))
	p.status("callback", 200, `content="0; url=/"`)(resp, body)
	if strings.Contains(body, "evil.example") {
		t.Error("the page leads to another site")
	}
	session := p.cookies[sessionCookie]
	if session == nil || session.SameSite != http.SameSiteStrictMode || p.cookies[flowCookie] != nil {
		t.Fatalf("the cookies are %v", p.cookies)
	}
	resp, body = p.ask("GET", "/api/v1/domains", "Sec-Fetch-Site", "same-origin")
	p.status("list", 200, service)(resp, body)
	if resp.Header.Get(apiRole) != "operate" || strings.Contains(body, "www.example") {
		t.Errorf("role %q, body %s", resp.Header.Get(apiRole), body)
	}
	p.status("status", 200, `"person":"oidc:ada@example.com","role":"operate"`)(p.ask("GET", "/auth/session"))
	p.status("identity", 200, `"source":"oidc"`)(p.ask("GET", "/api/v1/whoami"))
	p.status("outside the scope", 403, "scope")(p.ask("GET", "/api/v1/domains/www.example"))
	p.status("a token wins", 401, "none of api.tokens")(p.ask("GET", "/api/v1/domains", "Authorization", "Bearer x"))
	p.status("the token", 200, "www.example")(p.ask("GET", "/api/v1/domains", "Authorization", "Bearer "+token))
}

// A change with a session requires a page of the node. The audit log has the name of the person.
func TestSignIn_ChangesRequireAPageOfTheNode(t *testing.T) {
	p := newPeople(t)
	p.status("callback", 200, "signed in")(p.finish(p.provider.Authorize(t, p.begin())))
	const drain = "/api/v1/servers/" + service + ":192.0.2.1:80/drain"
	for name, header := range map[string][]string{
		"no origin": nil, "another origin": {"Origin", "https://evil.example"}, "null": {"Origin", "null"},
		"cross-site": {"Origin", p.base, "Sec-Fetch-Site", "cross-site"},
		"same site":  {"Origin", p.base, "Sec-Fetch-Site", "same-site"},
	} {
		p.status(name, 403, "origin")(p.ask("POST", drain, header...))
		p.status(name, 403, "origin")(p.ask("POST", "/auth/sign-out", header...))
	}
	p.status("read from another site", 403, "origin")(p.ask("GET", "/api/v1/domains", "Sec-Fetch-Site", "same-site"))
	own := []string{"Origin", p.base, "Sec-Fetch-Site", "same-origin"}
	if resp, body := p.ask("POST", drain, own...); resp.StatusCode >= 300 {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	p.status("audit log", 200, `"oidc:ada@example.com"`)(p.ask("GET", "/api/v1/audit-logs", "Authorization",
		"Bearer "+token))
	before := fmt.Sprint(sessionCookie, "=", p.cookies[sessionCookie].Value)
	p.status("sign-out", 204, "")(p.ask("POST", "/auth/sign-out", own...))
	if len(p.cookies) > 0 {
		t.Errorf("the cookies are %v", p.cookies)
	}
	p.status("after the sign-out", 401, "sign in again")(p.ask("GET", "/api/v1/domains", "Cookie", before))
}

func TestSignIn_ErrorsAreEscapedPages(t *testing.T) {
	p := newPeople(t)
	p.provider.Claims = map[string]any{"groups": []string{"x"}}
	resp, body := p.finish(p.provider.Authorize(t, p.begin()))
	p.status("no group", 403, "has no access")(resp, body)
	if resp.Header.Get("Content-Security-Policy") != signInPolicy || p.cookies[sessionCookie] != nil {
		t.Errorf("%v", resp.Header)
	}
	answer := p.provider.Authorize(t, p.begin())
	answer.Set("error", "<script>")
	p.status("an error", 403, "&lt;script&gt;")(p.finish(answer))
	p.status("no sign-in", 400, "sign in again")(p.finish(url.Values{"state": {"x"}, "code": {"x"}}))
}

// Without a provider, or with a provider that is down, tokens are valid.
func TestSignIn_ProviderIsDown(t *testing.T) {
	p := newPeople(t)
	p.provider.Close()
	r := newWorld(t).send("GET", "/auth/session", "")
	if r.status != 200 || !strings.Contains(r.body, `"sign_in":false`) {
		t.Errorf("without a provider: %d %s", r.status, r.body)
	}
	p.status("a token", 200, "www.example")(p.ask("GET", "/api/v1/domains", "Authorization", "Bearer "+token))
	answer, _ := p.ask("GET", "/auth/sign-in")
	if answer.StatusCode != 303 && answer.StatusCode != 503 {
		t.Errorf("got %d", answer.StatusCode)
	}
}
