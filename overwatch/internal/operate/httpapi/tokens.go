package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// bearers contains the hashes of the tokens of a configuration.
type bearers struct {
	of   *config.Config
	list []bearer
}

type bearer struct {
	name string
	role api.Role
	hash [sha256.Size]byte
}

func newBearers(cfg *config.Config) *bearers {
	b := &bearers{of: cfg}
	for role, tokens := range map[api.Role]map[string]settings.Secret{
		api.RoleRead: cfg.API.Tokens.Read, api.RoleOperate: cfg.API.Tokens.Operate, api.RoleAdmin: cfg.API.Tokens.Admin,
	} {
		for name, token := range tokens {
			b.list = append(b.list, bearer{name, role, sha256.Sum256([]byte(token.Reveal()))})
		}
	}
	return b
}

// find returns the holder of a token. It compares the token with all known tokens, so that the duration does not depend
// on the match.
func (b *bearers) find(token string) (found bearer, ok bool) {
	hash := sha256.Sum256([]byte(token))
	for _, known := range b.list {
		if subtle.ConstantTimeCompare(hash[:], known.hash[:]) == 1 {
			found, ok = known, true
		}
	}
	return found, ok
}

// tokens returns the tokens of the current configuration.
func (s *Server) tokens() *bearers {
	cfg, _ := s.o.Config()
	b := s.bearers.Load()
	if b == nil || b.of != cfg {
		b = newBearers(cfg)
		s.bearers.Store(b)
	}
	return b
}

// checkToken rejects a request with a token that lacks the required role, and sets the actor for the audit log. An
// unknown path requires RoleRead, so that unauthorized clients cannot detect existing paths.
func (s *Server) checkToken(c *call) error {
	known := s.tokens()
	if len(known.list) == 0 {
		return nil
	}
	need := c.operation.LeastRole()
	if need == api.RoleNone {
		return nil
	}
	token, given := bearerToken(c.Request)
	who, ok := known.find(token)
	switch {
	case !given:
		c.Header("WWW-Authenticate", `Bearer realm="gslb"`)
		return problemf(http.StatusUnauthorized, "this needs a token: send Authorization: Bearer <token>, one of api.tokens")
	case !ok:
		c.Header("WWW-Authenticate", `Bearer realm="gslb", error="invalid_token"`)
		return problemf(http.StatusUnauthorized, "the token is none of api.tokens")
	case slices.Index(api.Roles(), who.role) < slices.Index(api.Roles(), need):
		c.actor = who.name
		c.Header("WWW-Authenticate", fmt.Sprintf(`Bearer realm="gslb", error="insufficient_scope", scope=%q`, need))
		return problemf(http.StatusForbidden, "this needs a token of role %s: that of %s has role %s", need, who.name,
			who.role)
	}
	c.actor, c.role = who.name, who.role
	c.Header(apiRole, string(who.role))
	return nil
}

// proved reports whether the client has a token, if the node has tokens, or authenticates as another node. A new
// connection can replace the connection of any other client, so that slow readers do not use up all connections.
func (s *Server) proved(c *call) bool {
	return c.role != "" || len(s.tokens().list) == 0 || c.operation.nodes && nodeProof(c) != ""
}

// nodeProof returns the Authorization of another node, or "" for other clients.
func nodeProof(c *call) string {
	if proof := c.GetHeader("Authorization"); strings.HasPrefix(proof, api.KeySyncScheme+" ") {
		return proof
	}
	return ""
}

// stillAdmitted reports whether the current tokens permit a request that was permitted earlier.
func (s *Server) stillAdmitted(c *call) bool {
	known, need := s.tokens(), c.operation.LeastRole()
	if len(known.list) == 0 || need == api.RoleNone {
		return true
	}
	token, _ := bearerToken(c.Request)
	who, ok := known.find(token)
	return ok && slices.Index(api.Roles(), who.role) >= slices.Index(api.Roles(), need)
}

// bearerToken parses the Authorization header (RFC 6750 section 2.1). Two headers are treated as no token.
func bearerToken(r *http.Request) (token string, given bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", len(values) > 0
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimSpace(token), true
}
