package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// bearers are the tokens of one configuration; only their hashes are kept.
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

// find compares with every token, so that the time it takes tells nothing.
func (b *bearers) find(token string) (found bearer, ok bool) {
	hash := sha256.Sum256([]byte(token))
	for _, known := range b.list {
		if subtle.ConstantTimeCompare(hash[:], known.hash[:]) == 1 {
			found, ok = known, true
		}
	}
	return found, ok
}

// guard checks tokens where there are any.
type guard struct {
	table   table
	bearers atomic.Pointer[bearers]
}

// known returns the tokens of the configuration in force.
func (s *Server) known() *bearers {
	cfg, _ := s.o.Config()
	b := s.guard.bearers.Load()
	if b == nil || b.of != cfg {
		b = newBearers(cfg)
		s.guard.bearers.Store(b)
	}
	return b
}

// authorize lets a request pass whose token has the role that its path needs,
// and keeps the name of who has the token for the audit log.
func (s *Server) authorize(c *gin.Context) *problem {
	known := s.known()
	if len(known.list) == 0 {
		return nil
	}
	need := api.RoleRead // of what does not exist: only who is known learns that
	if o := s.guard.table.of(c); o != nil {
		need = o.LeastRole()
	}
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
		c.Header("WWW-Authenticate", fmt.Sprintf(`Bearer realm="gslb", error="insufficient_scope", scope=%q`, need))
		return problemf(http.StatusForbidden, "this needs a token of role %s: that of %s has role %s", need, who.name, who.role)
	}
	c.Set(keyActor, who.name)
	return nil
}

// bearerToken reads the one Authorization header (RFC 6750 section 2.1).
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

// actorOf is who makes a request: whose token it carries, else its address.
func actorOf(c *gin.Context) string {
	if name := c.GetString(keyActor); name != "" {
		return name
	}
	return clientOf(c).String()
}
