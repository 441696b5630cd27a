package httpapi

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/operate/signin"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// Cookies of the sign-in. The prefix __Host- requires Secure and the path /, so that other hosts cannot set them. The
// browser sends flowCookie with the redirect of the provider; it sends sessionCookie only with requests of this site.
const (
	sessionCookie = "__Host-gslb-session"
	flowCookie    = "__Host-gslb-sign-in"
)

// signInPolicy is the Content-Security-Policy of the pages of the sign-in.
const signInPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// signInPage is the page after a sign-in. The console loads with a request of this site.
var signInPage = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>gslb: sign-in</title>
{{if not .}}<meta http-equiv="refresh" content="0; url=/">{{end}}</head>
<body>{{if .}}<h1>The sign-in failed</h1><p>{{.}}</p><p><a href="/auth/sign-in">Sign in again</a></p>
{{else}}<p>You are signed in.</p>{{end}}<p><a href="/">Open the console</a></p></body></html>
`))

// signInStatus is the answer of GET /auth/session.
type signInStatus struct {
	SignIn    bool      `json:"sign_in"` // the node has a provider
	Person    string    `json:"person,omitempty"`
	Role      api.Role  `json:"role,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// signInOperations returns the operations of the sign-in of people.
func (s *Server) signInOperations() []Operation {
	list := []Operation{{Method: get, Path: "/auth/session", handle: (*Server).getSession, Role: api.RoleNone}}
	if s.people == nil {
		return list
	}
	return append(list,
		Operation{Method: get, Path: "/auth/sign-in", handle: (*Server).getSignIn, Role: api.RoleNone},
		Operation{Method: get, Path: config.CallbackPath, handle: (*Server).getCallback, Role: api.RoleNone},
		Operation{Method: post, Path: "/auth/sign-out", handle: (*Server).postSignOut, Role: api.RoleNone})
}

// openSignIn returns the sign-in of api.oidc, or nil without a provider.
func openSignIn(o *Options) (*signin.Manager, error) {
	if o.API.OIDC.Issuer == "" || !o.API.Console {
		return nil, nil
	}
	return signin.New(signin.Options{Config: o.API.OIDC, Logger: o.Logger, Now: o.Now})
}

// runSignIn requests the endpoints of the provider until ctx ends.
func (s *Server) runSignIn(ctx context.Context) {
	if s.people != nil {
		s.people.Run(ctx)
	}
}

// session returns the session of a request, its id, and whether the request has a session cookie without
// Authorization. The session is nil if it has ended.
func (s *Server) session(r *http.Request) (found *signin.Session, id string, given bool) {
	if s.people == nil || len(r.Header.Values("Authorization")) > 0 {
		return nil, "", false
	}
	cookies := r.CookiesNamed(sessionCookie)
	if len(cookies) != 1 {
		return nil, "", len(cookies) > 0
	}
	return s.people.Session(cookies[0].Value), cookies[0].Value, true
}

// checkPage rejects a request with a session that a page of another origin has sent (CSRF). Browsers send Origin with
// each change, and Sec-Fetch-Site with each request to a trustworthy host.
func checkPage(r *http.Request) error {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	sameSite := site == "" || site == "same-origin" || site == "none" && !changesState(r.Method)
	sameOrigin := fromOwnPage(r) || origin == "" && !changesState(r.Method)
	if !sameSite || !sameOrigin {
		return problemf(http.StatusForbidden, "the session of the console is valid only for pages of this node: "+
			"the origin is %.260q", origin)
	}
	return nil
}

// personOf returns the person of a session cookie in the form of a token.
func (s *Server) personOf(c *call) (who bearer, given bool, err error) {
	found, _, given := s.session(c.Request)
	if !given {
		return bearer{}, false, nil
	}
	if found == nil {
		return bearer{}, true, problemf(http.StatusUnauthorized,
			"the session has ended, or belongs to another node: sign in again")
	}
	return bearer{name: found.Person, role: found.Role, ends: found.Ends, scope: found.Scope}, true, checkPage(c.Request)
}

func (s *Server) getSession(c *call) (answer, error) {
	status := signInStatus{SignIn: s.people != nil}
	if found, _, _ := s.session(c.Request); found != nil {
		if err := checkPage(c.Request); err != nil {
			return answer{}, err
		}
		status.Person, status.Role, status.ExpiresAt = found.Person, found.Role, stamp(found.Ends)
	}
	return ok(status), nil
}

func (s *Server) getSignIn(c *call) (answer, error) {
	to, flow, err := s.people.Begin()
	if err != nil {
		return writeSignIn(c, err)
	}
	setCookie(c, flowCookie, flow, http.SameSiteLaxMode, signin.FlowTimeout)
	c.Header("Referrer-Policy", "no-referrer")
	c.Abort()
	c.Redirect(http.StatusSeeOther, to)
	return answer{}, nil
}

func (s *Server) getCallback(c *call) (answer, error) {
	flow := ""
	if cookies := c.Request.CookiesNamed(flowCookie); len(cookies) == 1 {
		flow = cookies[0].Value
	}
	id, made, err := s.people.Finish(c.Request.Context(), flow, c.Request.URL.Query())
	setCookie(c, flowCookie, "", http.SameSiteLaxMode, 0)
	if err == nil {
		if _, before, given := s.session(c.Request); given {
			s.people.End(before)
		}
		setCookie(c, sessionCookie, id, http.SameSiteStrictMode, made.Ends.Sub(made.Begins))
	}
	return writeSignIn(c, err)
}

// writeSignIn writes the page of a completed sign-in, or of its error.
func writeSignIn(c *call, err error) (answer, error) {
	status, text := http.StatusOK, ""
	if err != nil {
		var refused *signin.Refusal
		if !errors.As(err, &refused) {
			return answer{}, err
		}
		status, text = refused.Status, refused.Text
	}
	c.Abort()
	c.Header("Content-Type", "text/html; charset=utf-8")
	c.Header("Content-Security-Policy", signInPolicy)
	c.Header("Referrer-Policy", "no-referrer")
	c.Status(status)
	return answer{}, signInPage.Execute(c.Writer, text)
}

func (s *Server) postSignOut(c *call) (answer, error) {
	if err := checkPage(c.Request); err != nil {
		return answer{}, err
	}
	if _, id, given := s.session(c.Request); given {
		s.people.End(id)
	}
	setCookie(c, sessionCookie, "", http.SameSiteStrictMode, 0)
	return noContent(), nil
}

// setCookie sets a cookie for a time; 0 deletes it.
func setCookie(c *call, name, value string, site http.SameSite, life time.Duration) {
	age := int(life.Seconds())
	if age == 0 {
		age = -1
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: site})
}
