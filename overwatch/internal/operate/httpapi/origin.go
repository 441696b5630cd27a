package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// cors contains the rules for requests from pages of other origins (Fetch standard, HTTP CORS protocol). Without
// api.enable_cors, other origins may not make changes.
type cors config.API

func (o *cors) anyOrigin() bool { return slices.Contains(o.CORS.AllowedOrigins, "*") }

func (o *cors) allows(origin string) bool {
	return o.EnableCORS && (o.anyOrigin() || slices.ContainsFunc(o.CORS.AllowedOrigins, func(allowed string) bool {
		return strings.EqualFold(strings.TrimSuffix(allowed, "/"), origin)
	}))
}

// apply sets the response headers of a cross-origin request, answers a preflight request, and rejects a change from an
// origin that is not allowed.
func (o *cors) apply(c *call) error {
	origin := c.GetHeader("Origin")
	if o.EnableCORS && !o.anyOrigin() {
		c.Header("Vary", "Origin")
	}
	if origin == "" {
		return nil
	}
	if !o.allows(origin) {
		if changesState(c.Request.Method) {
			return problemf(http.StatusForbidden,
				"the origin %.260q may not change anything: see api.enable_cors and api.cors.allowed_origins", origin)
		}
		return nil
	}
	o.setOrigin(c, origin)
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" {
		c.Header("Access-Control-Allow-Methods", strings.Join(o.CORS.AllowedMethods, ", "))
		c.Header("Access-Control-Allow-Headers", strings.Join(o.CORS.AllowedHeaders, ", "))
		c.Header("Access-Control-Max-Age", strconv.Itoa(o.CORS.MaxAge))
		c.AbortWithStatus(http.StatusNoContent)
	}
	return nil
}

func (o *cors) setOrigin(c *call, origin string) {
	if o.anyOrigin() {
		c.Header("Access-Control-Allow-Origin", "*")
		return
	}
	c.Header("Access-Control-Allow-Origin", origin)
	if o.CORS.AllowCredentials {
		c.Header("Access-Control-Allow-Credentials", "true")
	}
}

// apiRole is the response header with the role of a page of this node.
const apiRole = "X-Api-Role"

// checkOrigin applies the rules for pages of other origins and of this node: the console can make the changes that its
// token permits. Without tokens, it can make changes only if the Host is checked. Otherwise an attacker's name that
// resolves to this node would have the same origin.
func (s *Server) checkOrigin(c *call) error {
	others := (*cors)(&s.o.API)
	if !s.o.API.Console {
		return others.apply(c)
	}
	tokens, own := s.tokens().required(), fromOwnPage(c.Request)
	switch {
	case tokens: // checkToken sets the role
	case s.access.checkHost:
		c.Header(apiRole, string(api.RoleAdmin))
	default:
		c.Header(apiRole, string(api.RoleRead))
		if own && changesState(c.Request.Method) {
			return problemf(http.StatusForbidden,
				"without api.tokens the console changes nothing here: set them, or api.allowed_hosts, so that hosts are checked")
		}
	}
	if own && (tokens || s.access.checkHost) {
		return nil
	}
	return others.apply(c)
}

// fromOwnPage reports whether a page of this node has sent the request. A proxy may have terminated TLS.
func fromOwnPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin == "https://"+r.Host || origin == "http://"+r.Host && r.TLS == nil
}

func changesState(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}
