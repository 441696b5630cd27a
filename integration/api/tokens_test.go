package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// tokenRows are the rows of a node without api.tokens, which rejects new tokens.
func (f fixture) tokenRows() []row {
	return []row{
		{"GET /api/v1/whoami", "", "", 200, "source:s{none} role:s{admin}"},
		{"GET /api/v1/tokens", "", "", 200, "tokens:a" + shapeListed},
		{"POST /api/v1/tokens", "", `{"name":"ci"}`, 409, shapeProblem},
		{"GET /api/v1/tokens/{name}", "/v1/tokens/ci", "", 404, shapeProblem},
		{"POST /api/v1/tokens/{name}/rotate", "/v1/tokens/ci/rotate", `{"overlap":"1h"}`, 404, shapeProblem},
		{"DELETE /api/v1/tokens/{name}", "/v1/tokens/ci", "", 404, shapeProblem},
	}
}

// A node with an admin token in its file creates, lists, rotates and revokes tokens with all fields.
func TestTokens_Contract(t *testing.T) {
	t.Parallel()
	admin := strings.Repeat("a1", 20)
	n := apiNode(t, "", map[string]any{"tokens": map[string]any{"admin": map[string]string{"root": admin}}})
	client := func(token string) *api.Client {
		c, err := api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Timeout: apiBound, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	made, err := client(admin).CreateToken(t.Context(), api.TokenChange{"name": "ci", "role": "operate",
		"comment": "a test", "expires_at": ends, "scope": map[string]any{"actions": []string{"read", "operate"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := made.Token; got.Type != "bearer" || got.Role != "operate" || got.CreatedBy != "root" ||
		!got.ExpiresAt.Equal(ends) || got.Comment != "a test" || got.CreatedAt.IsZero() || got.Hash != "" ||
		len(got.Scope.Actions) != 2 || got.Status != api.TokenValid || !strings.HasPrefix(made.Secret, "gslb_") {
		t.Errorf("the created token: %+v", made)
	}
	if _, err := client(made.Secret).Servers(t.Context()); err != nil {
		t.Error(err)
	}
	id, err := client(made.Secret).Identity(t.Context())
	if err != nil || id.Name != "ci" || id.Source != api.IdentityAPI || id.Role != api.RoleOperate ||
		len(id.Scope.Actions) != 2 || id.ExpiresAt == nil || !id.ExpiresAt.Equal(ends) {
		t.Errorf("the identity of the created token: %+v, %v", id, err)
	}
	if id, err = client(admin).Identity(t.Context()); err != nil || id.Name != "root" || id.Source != api.IdentityFile ||
		id.Role != api.RoleAdmin || id.Scope.IsLimited() {
		t.Errorf("the identity of the token of the file: %+v, %v", id, err)
	}
	rotated, err := client(admin).RotateToken(t.Context(), "ci", api.TokenRotation{Overlap: "1h"})
	if err != nil || rotated.Token.RotatedAt.IsZero() || rotated.Token.PreviousUntil.IsZero() {
		t.Errorf("the rotated token: %+v, %v", rotated, err)
	}
	for _, token := range []string{made.Secret, rotated.Secret} {
		if _, err := client(token).Servers(t.Context()); err != nil {
			t.Error(err)
		}
	}
	list, err := client(admin).Tokens(t.Context())
	if err != nil || list.Total != 1 || list.Tokens[0].Name != "ci" ||
		list.Tokens[0].Hash+list.Tokens[0].PreviousHash != "" {
		t.Errorf("the list: %+v, %v", list, err)
	}
	if err := client(admin).RevokeToken(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	_, err = client(rotated.Secret).Servers(t.Context())
	if answer, is := errors.AsType[*api.Error](err); !is || answer.Status != http.StatusUnauthorized {
		t.Errorf("a revoked token: %v", err)
	}
}
