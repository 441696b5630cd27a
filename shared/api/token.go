package api

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/shared/model"
)

// MaxTokenOverlap is the longest time for which the previous secret of a rotated token stays valid.
const MaxTokenOverlap = 7 * 24 * time.Hour

// TokenStatus is the state of a token.
type TokenStatus string

// The states of tokens.
const (
	TokenValid   TokenStatus = "valid"
	TokenExpired TokenStatus = "expired"
)

// Token is a credential that all nodes accept, without its secret.
type Token struct {
	model.Token
	Status TokenStatus `json:"status"`
}

// TokenChange is the body of POST /api/v1/tokens. It requires name.
type TokenChange = model.Patch[model.Token]

// Identity describes the token of a request, without its secret: the answer of GET /api/v1/whoami.
type Identity struct {
	// Name is the name of the token; empty if the node requires no tokens.
	Name   string         `json:"name,omitempty"`
	Source IdentitySource `json:"source"`
	Role   Role           `json:"role"`
	// Scope is empty if the token has no limits.
	Scope model.TokenScope `json:"scope,omitzero"`
	// ExpiresAt is the time from which the node rejects this secret; nil means never.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// IdentitySource is where a token is declared.
type IdentitySource string

// The sources of identities.
const (
	IdentityOpen IdentitySource = "none" // the node requires no tokens
	IdentityFile IdentitySource = "file" // api.tokens of the configuration file
	IdentityAPI  IdentitySource = "api"  // gslbctl tokens
	IdentityOIDC IdentitySource = "oidc" // a person who has signed in
)

// Identity returns the name, role and scope of the client's token.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	return get[Identity](ctx, c, "/api/v1/whoami", nil)
}

// TokenList is the answer of GET /api/v1/tokens.
type TokenList struct {
	Tokens      []Token   `json:"tokens"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// TokenSecret is the answer to the creation or rotation of a token: the only answer with its secret.
type TokenSecret struct {
	Token Token `json:"token"`
	// Secret is the bearer token, or the secret of a TSIG key in base64.
	Secret string `json:"secret"`
}

// TokenRotation is the body of POST /api/v1/tokens/{name}/rotate.
type TokenRotation struct {
	// Overlap is the time for which the previous secret stays valid, such as "1h"; empty: 0. A TSIG key has no overlap.
	Overlap string `json:"overlap,omitempty"`
}

// Tokens lists the tokens of the API, without their secrets.
func (c *Client) Tokens(ctx context.Context) (TokenList, error) {
	return everyPage(ctx, c, "/api/v1/tokens", nil, func(l *TokenList) (*[]Token, int) { return &l.Tokens, l.Total })
}

// CreateToken creates a token and returns its secret.
func (c *Client) CreateToken(ctx context.Context, req TokenChange) (TokenSecret, error) {
	return send[TokenSecret](ctx, c, http.MethodPost, "/api/v1/tokens", req)
}

// RotateToken replaces the secret of a token and returns the new secret.
func (c *Client) RotateToken(ctx context.Context, name string, req TokenRotation) (TokenSecret, error) {
	return send[TokenSecret](ctx, c, http.MethodPost, "/api/v1/tokens", req, name, "rotate")
}

// RevokeToken deletes a token. Nodes then reject it.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	return c.remove(ctx, "/api/v1/tokens", name)
}
