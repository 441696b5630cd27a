package httpapi

import (
	"net/http"

	"gslb.internal/shared/api"
)

// operates are the changes that an operator on duty makes: each can be taken
// back, and none of them changes what is configured.
func operates() []string {
	const v1, backend = "/api/v1", "/api/v1/overwatch/backends/:service/:address/:port"
	return []string{
		"POST " + v1 + "/servers/:id/drain", "DELETE " + v1 + "/servers/:id/drain",
		"POST " + backend + "/override", "DELETE " + backend + "/override",
		"PUT " + v1 + "/overrides/:service/:address", "PATCH " + v1 + "/overrides/:service/:address", "DELETE " + v1 + "/overrides/:service/:address",
		"POST " + v1 + "/overwatch/validate", "POST " + v1 + "/overwatch/agents/:agent_id/revoke",
		"POST " + v1 + "/dnssec/sync", "POST " + v1 + "/routing/test", "POST " + v1 + "/config/validate",
	}
}

// tokenless are the paths that need no token even where api.tokens is set:
// the probes, the description of the API, and the public halves of the
// signing keys, which DNS shows to everybody. With the keys come private
// halves only for a peer that proved the secret of the key exchange.
func tokenless() []string {
	return []string{
		pathHealth, pathReady, pathLive, pathVersion, pathOpenAPI, pathDocs, pathDocsProgram, pathDocsStyle, "/api/v1/dnssec/keys",
	}
}

// roles is the one table of who may do what where tokens are used.
type roles struct {
	open    map[string]bool // by path
	operate map[string]bool // by method and path
}

func newRoles() *roles {
	r := &roles{open: map[string]bool{}, operate: map[string]bool{}}
	for _, path := range tokenless() {
		r.open[path] = true
	}
	for _, operation := range operates() {
		r.operate[operation] = true
	}
	return r
}

// of returns the least role that may use a method of a path, as gin writes
// the path. What is in no table needs the most.
func (r *roles) of(method, path string) api.Role {
	reads := method == http.MethodGet || method == http.MethodHead
	switch {
	case reads && r.open[path]:
		return api.RoleNone
	case reads || method == http.MethodOptions:
		return api.RoleRead
	case r.operate[method+" "+path]:
		return api.RoleOperate
	}
	return api.RoleAdmin
}
