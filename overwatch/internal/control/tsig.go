package control

import (
	"encoding/base64"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// TSIGKey returns the algorithm, the secret and the scope of a TSIG key (RFC 8945) by its name, in any case and with or
// without a final dot. found is false for an unknown, expired or invalid key. A change with the key requires a scope
// that permits model.ActionDefine and covers the changed objects. TSIGKey never waits; the caller must not change the
// scope.
func (s *State) TSIGKey(name string) (algorithm string, secret []byte, scope model.TokenScope, found bool) {
	t := s.shown.Load().set.Tokens[strings.ToLower(strings.TrimSuffix(name, "."))]
	if t == nil || t.Type != model.TokenTSIG || t.IsExpired(time.Now()) || definitions.CheckToken(t) != nil {
		return "", nil, scope, false
	}
	secret, err := base64.StdEncoding.DecodeString(t.Secret)
	return t.Algorithm, secret, t.Scope, err == nil
}
