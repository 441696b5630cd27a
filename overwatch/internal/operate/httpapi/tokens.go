package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// bearers contains the tokens of a configuration and of the API. It is immutable.
type bearers struct {
	of   *config.Config
	api  map[string]*model.Token
	list []bearer
}

// bearer is a token that clients can send.
type bearer struct {
	name  string
	role  api.Role
	hash  [sha256.Size]byte
	ends  time.Time         // the token is invalid from then on; zero: never
	scope *model.TokenScope // nil for a token of the configuration, which has no limits
}

func newBearers(cfg *config.Config, ofAPI map[string]*model.Token) *bearers {
	b := &bearers{of: cfg, api: ofAPI}
	for role, tokens := range map[api.Role]map[string]settings.Secret{
		api.RoleRead: cfg.API.Tokens.Read, api.RoleOperate: cfg.API.Tokens.Operate, api.RoleAdmin: cfg.API.Tokens.Admin,
	} {
		for name, token := range tokens {
			b.list = append(b.list, bearer{name: name, role: role, hash: sha256.Sum256([]byte(token.Reveal()))})
		}
	}
	for _, t := range ofAPI {
		b.add(t, t.Hash, t.ExpiresAt)
		if until := t.PreviousUntil; t.ExpiresAt.IsZero() || until.Before(t.ExpiresAt) {
			b.add(t, t.PreviousHash, until)
		} else {
			b.add(t, t.PreviousHash, t.ExpiresAt)
		}
	}
	return b
}

// add adds a token of the API with a hash in hexadecimal digits. It ignores TSIG keys, and tokens of later versions.
func (b *bearers) add(t *model.Token, hash string, ends time.Time) {
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != sha256.Size || t.Type != model.TokenBearer || definitions.CheckToken(t) != nil {
		return
	}
	b.list = append(b.list, bearer{t.Name, api.Role(t.Role), [sha256.Size]byte(raw), ends, &t.Scope})
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

// required reports whether requests need a token: the configuration or the API has one, even an expired one.
func (b *bearers) required() bool { return b.of.API.Tokens.Any() || len(b.api) > 0 }

// isExpired reports whether the token is invalid at a time.
func (b *bearer) isExpired(at time.Time) bool { return !b.ends.IsZero() && !at.Before(b.ends) }

// may reports whether role and scope of the token permit an operation. The scope can also limit the objects.
func (b *bearer) may(o *Operation) bool {
	return slices.Index(api.Roles(), b.role) >= slices.Index(api.Roles(), o.LeastRole()) &&
		(b.scope == nil || b.scope.Permits(o.action()))
}

// tokens returns the tokens of the current configuration and of the API.
func (s *Server) tokens() *bearers {
	cfg, _ := s.o.Config()
	set, _ := s.o.Definitions.Defined()
	b := s.bearers.Load()
	if b == nil || b.of != cfg || !sameMap(b.api, set.Tokens) {
		b = newBearers(cfg, set.Tokens)
		s.bearers.Store(b)
	}
	return b
}

// sameMap reports whether two immutable maps are the same map.
func sameMap(a, b map[string]*model.Token) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// checkToken rejects a request with a token that lacks the required role or action, and sets the actor for the audit
// log. An unknown path requires RoleRead, so that unauthorized clients cannot detect existing paths.
func (s *Server) checkToken(c *call) error {
	known := s.tokens()
	if !known.required() {
		return nil
	}
	need := c.operation.LeastRole()
	if need == api.RoleNone {
		return nil
	}
	token, given := bearerToken(c.Request)
	who, ok := known.find(token)
	if person, hasSession, err := s.personOf(c); hasSession {
		if err != nil {
			return err
		}
		who, given, ok = person, true, true
	}
	switch {
	case !given:
		c.Header("WWW-Authenticate", `Bearer realm="gslb"`)
		return problemf(http.StatusUnauthorized, "this needs a token: send Authorization: Bearer <token>, one of "+
			"api.tokens or of gslbctl tokens")
	case !ok:
		c.Header("WWW-Authenticate", `Bearer realm="gslb", error="invalid_token"`)
		return problemf(http.StatusUnauthorized, "the token is none of api.tokens and none of gslbctl tokens list")
	case who.isExpired(s.o.Now()):
		c.Header("WWW-Authenticate", `Bearer realm="gslb", error="invalid_token"`)
		return problemf(http.StatusUnauthorized, "the token of %s has expired at %s: create another token with "+
			"gslbctl tokens create", who.name, who.ends.UTC().Format(time.RFC3339))
	case slices.Index(api.Roles(), who.role) < slices.Index(api.Roles(), need):
		c.actor = who.name
		c.Header("WWW-Authenticate", fmt.Sprintf(`Bearer realm="gslb", error="insufficient_scope", scope=%q`, need))
		return problemf(http.StatusForbidden, "this needs a token of role %s: that of %s has role %s", need, who.name,
			who.role)
	case !who.may(c.operation):
		c.actor = who.name
		c.Header("WWW-Authenticate", `Bearer realm="gslb", error="insufficient_scope"`)
		return problemf(http.StatusForbidden, "this needs a token with the action %s: the scope of %s has %s",
			c.operation.action(), who.name, listed(who.scope.Actions))
	}
	c.actor, c.role, c.scope = who.name, who.role, who.scope
	c.Header(apiRole, string(who.role))
	return nil
}

// proved reports whether the client has a token, if the node has tokens, or authenticates as another node. A new
// connection can replace the connection of any other client, so that slow readers do not use up all connections.
func (s *Server) proved(c *call) bool {
	return c.role != "" || !s.tokens().required() || c.operation.nodes && nodeProof(c) != ""
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
	known := s.tokens()
	if !known.required() || c.operation.LeastRole() == api.RoleNone {
		return true
	}
	token, _ := bearerToken(c.Request)
	who, ok := known.find(token)
	if person, hasSession, err := s.personOf(c); hasSession {
		who, ok = person, err == nil
	}
	return ok && !who.isExpired(s.o.Now()) && who.may(c.operation) && reflect.DeepEqual(who.scope, c.scope)
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
