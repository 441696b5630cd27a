package replication_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// clientOf returns a client of a node with a token.
func clientOf(t *testing.T, n *harness.Node, token string) *api.Client {
	t.Helper()
	c, err := api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Timeout: reachBound, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hasStatus reports whether a node rejected a request with a status.
func hasStatus(err error, status int) bool {
	answer, is := errors.AsType[*api.Error](err)
	return is && answer.Status == status
}

// guarded is a site of nodes with the same admin token in their files.
func guarded(t *testing.T, admin string) *testbed.Site {
	t.Helper()
	s := site(t)
	for _, n := range s.Nodes {
		n.File.API.More = map[string]any{"tokens": map[string]any{"admin": map[string]string{"root": admin}}}
		n.Client = clientOf(t, n, admin)
	}
	return s
}

// accepts waits until nodes accept a token, or reject it.
func accepts(t *testing.T, token string, accepted bool, nodes ...*harness.Node) {
	t.Helper()
	for _, n := range nodes {
		testbed.Until(t, reachBound, fmt.Sprintf("%s to accept a token: %v", n.Name, accepted),
			func(ctx context.Context) error {
				if _, err := clientOf(t, n, token).Servers(ctx); (err == nil) != accepted ||
					!accepted && !hasStatus(err, http.StatusUnauthorized) {
					return fmt.Errorf("the answer is %w", err)
				}
				return nil
			})
	}
}

// A token is valid on all nodes after its creation on one node, and on none after its revocation on another node, also
// on a node that was stopped during the revocation. The files of the nodes have no secret of a bearer token.
func TestTokens_CreationRotationAndRevocationReachEveryNode(t *testing.T) {
	t.Parallel()
	s := guarded(t, strings.Repeat("a1", 20))
	s.StartPrograms(t)
	first, second, third := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	made, err := first.Client.CreateToken(t.Context(), api.TokenChange{"name": "ci", "role": "read"})
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, made.Secret, true, s.Nodes...)
	key, err := first.Client.CreateToken(t.Context(), api.TokenChange{"name": "acme.example", "type": "tsig",
		"algorithm": "hmac-sha256", "role": "admin"})
	if err != nil || key.Token.Secret != "" {
		t.Fatalf("%+v, %v", key, err)
	}
	rotated, err := second.Client.RotateToken(t.Context(), "ci", api.TokenRotation{})
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, rotated.Secret, true, s.Nodes...)
	accepts(t, made.Secret, false, s.Nodes...)
	alike(t, s.Nodes...)
	testbed.Kill(t, third)
	if err := second.Client.RevokeToken(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	accepts(t, rotated.Secret, false, first, second)
	testbed.Start(t, third)
	accepts(t, rotated.Secret, false, third)
	list, err := third.Client.Tokens(t.Context())
	if err != nil || list.Total != 1 || list.Tokens[0].Name != "acme.example" || list.Tokens[0].Secret != "" {
		t.Errorf("tokens of the third node: %+v, %v", list, err)
	}
	for _, n := range s.Nodes {
		log, err := n.Client.AuditLog(t.Context(), nil)
		if err != nil || strings.Contains(fmt.Sprintf("%+v", log), key.Secret) {
			t.Errorf("audit log of %s: %v", n.Name, err)
		}
	}
}

// The procedure of tokens.md for lost tokens: a new token in the file of one node, and a reload by signal.
func TestTokens_BreakGlass(t *testing.T) {
	t.Parallel()
	s := guarded(t, strings.Repeat("a1", 20))
	oidc := map[string]any{"issuer": "http://" + testbed.UnusedAddress(t), "client_id": "gslb",
		"redirect_url": "http://localhost/auth/callback", "roles": []map[string]string{{"group": "a", "role": "admin"}}}
	for _, n := range s.Nodes {
		n.File.API.More["oidc"] = oidc
	}
	s.StartPrograms(t)
	n := s.Nodes[0]
	signInFails(t, n)
	lost, err := n.Client.CreateToken(t.Context(), api.TokenChange{"name": "lost", "role": "admin"})
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, lost.Secret, true, s.Nodes...)
	fresh := strings.Repeat("b2", 20)
	if _, err := clientOf(t, n, fresh).Tokens(t.Context()); !hasStatus(err, http.StatusUnauthorized) {
		t.Fatalf("before the procedure: %v", err)
	}
	n.File.API.More = map[string]any{"tokens": map[string]any{"admin": map[string]string{"root": fresh}}, "oidc": oidc}
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	admin := clientOf(t, n, fresh)
	next, err := admin.RotateToken(t.Context(), "lost", api.TokenRotation{})
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, next.Secret, true, s.Nodes...)
	accepts(t, lost.Secret, false, s.Nodes...)
	if _, err := clientOf(t, s.Nodes[1], next.Secret).Tokens(t.Context()); err != nil {
		t.Errorf("the rotated admin token on another node: %v", err)
	}
}

// signInFails checks that the node reports an error of the OIDC provider.
func signInFails(t *testing.T, n *harness.Node) {
	t.Helper()
	resp, err := http.Get("http://" + n.API.String() + "/auth/sign-in")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(page), "use a token") {
		t.Errorf("sign-in: %v, %d, %s", err, resp.StatusCode, page)
	}
}
