package httpapi

import (
	"maps"
	"net/http"
	"slices"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// tokenOperations returns the operations about the tokens of the API. Except for the operation about its own identity,
// only a token without limits of objects may use them, because the table declares no objects for them.
func tokenOperations() []Operation {
	example := model.New[model.Token]()
	example.Name, example.Role, example.CreatedBy, example.Comment = "external-dns", "admin", "alice", "ExternalDNS"
	example.Scope = model.TokenScope{Zones: []string{"apps.example.com"}, Owners: []string{"external-dns"}}
	example.CreatedAt, example.UpdatedAt, example.ExpiresAt = exampleTime(), exampleTime(), exampleTime().AddDate(1, 0, 0)
	one := api.Token{Token: *example, Status: api.TokenValid}
	secret := api.TokenSecret{Token: one, Secret: "gslb_q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA"}
	token := v1 + "/tokens/{name}"
	return []Operation{
		{Method: get, Path: v1 + "/whoami", handle: (*Server).getIdentity, Query: none,
			Summary:     "Show the token of this request",
			Description: "The answer has the name, role and scope of the token that the client sends.", Status: 200,
			Answer: api.Identity{Name: "external-dns", Source: api.IdentityAPI, Role: api.RoleAdmin, Scope: example.Scope}},
		{Method: get, Path: v1 + "/tokens", handle: (*Server).listTokens, Role: api.RoleAdmin,
			Summary: "List tokens of the API", Query: paged(), Status: 200,
			Description: "The list has neither secrets nor hashes, and no tokens of the configuration file.",
			Answer:      api.TokenList{Tokens: []api.Token{one}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: v1 + "/tokens", Changes: KindToken, handle: decoded((*Server).postToken),
			Summary: "Create a token",
			Description: "The answer is the only one with the secret. All nodes accept the token. The configuration " +
				"file of the node must have a token in api.tokens.admin, which remains valid when other tokens are lost. " +
				"The change cannot be undone: revoke the token.",
			Body: api.TokenChange{"name": "external-dns", "role": "admin",
				"scope": map[string]any{"zones": []string{"apps.example.com"}, "owners": []string{"external-dns"}}},
			Required: []string{"name"}, Status: 201, Answer: secret, Errors: []int{conflict, noStore}},
		{Method: get, Path: token, handle: (*Server).getToken, Role: api.RoleAdmin, Summary: "Get a token of the API",
			Status: 200, Answer: one},
		{Method: post, Path: token + "/rotate", Changes: KindToken, handle: (*Server).postTokenRotation,
			Summary: "Replace the secret of a token",
			Description: "The previous bearer token stays valid for overlap, at most 168h. The change cannot be undone: " +
				"rotate the token again.",
			Body: api.TokenRotation{Overlap: "1h"}, Optional: true, Status: 200, Answer: secret, Errors: []int{noStore}},
		{Method: del, Path: token, Changes: KindToken, handle: (*Server).deleteToken, Summary: "Revoke a token",
			Description: "Each node rejects the token as soon as it has the change. The change cannot be undone.",
			Status:      204, Errors: []int{noStore}},
	}
}

// getIdentity answers GET /whoami.
func (s *Server) getIdentity(c *call) (answer, error) {
	known := s.tokens()
	if !known.required() {
		return ok(api.Identity{Source: api.IdentityOpen, Role: api.RoleAdmin}), nil
	}
	token, _ := bearerToken(c.Request)
	who, _ := known.find(token)
	id := api.Identity{Name: who.name, Source: api.IdentityFile, Role: who.role}
	if who.scope != nil {
		id.Source, id.Scope = api.IdentityAPI, *who.scope
	}
	if person, hasSession, err := s.personOf(c); hasSession {
		if err != nil {
			return answer{}, err
		}
		who = person
		id = api.Identity{Name: who.name, Source: api.IdentityOIDC, Role: who.role, Scope: *who.scope}
	}
	if !who.ends.IsZero() {
		ends := stamp(who.ends)
		id.ExpiresAt = &ends
	}
	return ok(id), nil
}

// listTokens answers GET /tokens.
func (s *Server) listTokens(c *call) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	names := slices.Sorted(maps.Keys(set.Tokens))
	list := api.TokenList{GeneratedAt: stamp(s.o.Now())}
	list.Tokens, list.Total = pageOf(slices.Values(names), c.page,
		func(name string) api.Token { return s.tokenView(set.Tokens[name]) })
	return ok(list), nil
}

// getToken answers GET /tokens/{name}.
func (s *Server) getToken(c *call) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	t := set.Tokens[c.Param("name")]
	if t == nil {
		return answer{}, notFound("no token %.70q was created through the API", c.Param("name"))
	}
	return ok(s.tokenView(t)), nil
}

// tokenView returns a token without secrets.
func (s *Server) tokenView(t *model.Token) api.Token {
	view := api.Token{Token: *t.Shown(), Status: api.TokenValid}
	if t.IsExpired(s.o.Now()) {
		view.Status = api.TokenExpired
	}
	return view
}

// postToken answers POST /tokens.
func (s *Server) postToken(c *call, req api.TokenChange) (answer, error) {
	made, secret, err := s.op.CreateToken(c.request(), req)
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, api.TokenSecret{Token: s.tokenView(made), Secret: secret}}, nil
}

// postTokenRotation answers POST /tokens/{name}/rotate. The body is optional.
func (s *Server) postTokenRotation(c *call) (answer, error) {
	var req api.TokenRotation
	if len(c.body) > 0 {
		if err := c.decode(&req); err != nil {
			return answer{}, err
		}
	}
	after, secret, err := s.op.RotateToken(c.request(), c.Param("name"), req.Overlap)
	if err != nil {
		return answer{}, err
	}
	return ok(api.TokenSecret{Token: s.tokenView(after), Secret: secret}), nil
}

// deleteToken answers DELETE /tokens/{name}.
func (s *Server) deleteToken(c *call) (answer, error) {
	return noContent(), s.op.RevokeToken(c.request(), c.Param("name"))
}
