package operations

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

const (
	// bearerPrefix begins each bearer token of the API, so that scanners of source code find published tokens.
	bearerPrefix = "gslb_"
	// bearerSize is the number of random octets of a bearer token. An attacker cannot guess it, so that a fast hash is
	// sufficient.
	bearerSize = 32
)

// CreateToken creates a token and returns its secret. It requires an admin token in the configuration file, which
// remains valid when all other tokens are lost.
func (op *Operations) CreateToken(r *Request, req api.TokenChange) (made *model.Token, secret string, err error) {
	if err := r.mayChangeTokens(); err != nil {
		return nil, "", err
	}
	made = model.New[model.Token]()
	if err := definitions.ApplyPatch(made, req, model.FromOperator); err != nil {
		return nil, "", fault.FromCheck(err)
	}
	if made.Type == model.TokenTSIG && !req.Has("role") {
		made.Role = string(api.RoleAdmin)
	}
	now := api.Stamp(op.o.Now())
	made.CreatedAt, made.UpdatedAt, made.CreatedBy = now, now, r.Actor.Name
	made.ExpiresAt = api.Moment(made.ExpiresAt)
	secret = renewSecret(made)
	if err := op.checkNewToken(made, now); err != nil {
		return nil, "", err
	}
	ch := &Change{Action: api.AuditCreate, Resource: store.KindToken, ID: made.Name, After: made}
	err = op.Define(r, ch, func(d *definitions.Draft) error {
		switch {
		case d.Now().Tokens[made.Name] != nil:
			return fault.Conflictf("token %s exists already: rotate it, or revoke it first", made.Name)
		case len(d.Now().Tokens) >= definitions.MaxTokens:
			return fault.Fullf("the API has created %d tokens, which is the most: revoke unused tokens",
				definitions.MaxTokens)
		}
		d.Put(made)
		return nil
	})
	return made, secret, err
}

// checkNewToken returns the first fault of a new token.
func (op *Operations) checkNewToken(t *model.Token, now time.Time) error {
	if err := definitions.CheckToken(t); err != nil {
		return fault.FromCheck(err)
	}
	known := ScopeKinds()
	for _, kind := range t.Scope.Kinds {
		if !slices.Contains(known, kind) {
			return fault.Invalidf("scope.kinds has %.64q: it must be one of %s", kind, strings.Join(known, ", "))
		}
	}
	if t.Name == "." || t.Name == ".." {
		return fault.Invalidf("name is %q: paths of the API cannot contain it", t.Name)
	}
	if t.IsExpired(now) {
		return fault.Invalidf("expires_at is %q: it must be later than now, %q", t.ExpiresAt.Format(time.RFC3339),
			now.Format(time.RFC3339))
	}
	file := op.o.Edit.Config().API.Tokens
	switch {
	case len(file.Admin) == 0:
		return fault.Conflictf("api.tokens.admin of this node has no token: add one to the configuration file of every " +
			"node first, so that access remains when all other tokens are lost")
	case isFileToken(file, t.Name):
		return fault.Conflictf("name is %q: api.tokens has a token with this name", t.Name)
	}
	return nil
}

// mayChangeTokens rejects a request with a token that has any limit: it could create or rotate a token with fewer
// limits.
func (r *Request) mayChangeTokens() error {
	if r.Scope != nil && (r.Scope.IsLimited() || len(r.Scope.Actions) > 0) {
		return fault.New(fault.Forbidden, "the token %s has a scope: only a token without a scope can create, rotate and "+
			"revoke tokens", r.Actor.Name)
	}
	return nil
}

func isFileToken(file config.Tokens, name string) bool {
	_, read := file.Read[name]
	_, operate := file.Operate[name]
	_, admin := file.Admin[name]
	return read || operate || admin
}

// ScopeKinds returns the kinds of objects that a scope can list.
func ScopeKinds() (kinds []string) {
	for _, k := range model.Kinds() {
		kinds = append(kinds, k.Name)
	}
	return append(kinds, store.KindServer, store.KindAgent, store.KindOverride, store.KindWeight, store.KindDrain,
		store.KindFailback)
}

// renewSecret sets a new random secret of a token, and returns the secret.
func renewSecret(t *model.Token) (secret string) {
	if size := definitions.TSIGKeySize(t.Algorithm); t.Type == model.TokenTSIG {
		t.Secret = base64.StdEncoding.EncodeToString(randomBytes(size))
		return t.Secret
	}
	secret = bearerPrefix + base64.RawURLEncoding.EncodeToString(randomBytes(bearerSize))
	hash := sha256.Sum256([]byte(secret))
	t.Hash = hex.EncodeToString(hash[:])
	return secret
}

func randomBytes(size int) []byte {
	key := make([]byte, size)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return key
}

// RotateToken replaces the secret of a token, and returns the new secret. The previous bearer token stays valid for
// overlap.
func (op *Operations) RotateToken(r *Request, name, overlap string) (after *model.Token, secret string, err error) {
	if err := r.mayChangeTokens(); err != nil {
		return nil, "", err
	}
	kept := time.Duration(0)
	if overlap != "" {
		if kept, err = time.ParseDuration(overlap); err != nil || kept < 0 || kept > api.MaxTokenOverlap {
			return nil, "", fault.Invalidf("overlap is %.64q: it must be a duration from 0s to %s, such as 1h", overlap,
				api.MaxTokenOverlap)
		}
	}
	ch := &Change{Action: api.AuditUpdate, Resource: store.KindToken, ID: name}
	err = op.Define(r, ch, func(d *definitions.Draft) error {
		before := d.Now().Tokens[name]
		if before == nil {
			return errNoToken(name)
		}
		if before.Type == model.TokenTSIG && kept > 0 {
			return fault.Invalidf("overlap is %.64q: a TSIG key has no overlap: create a second key, and revoke %s later",
				overlap, name)
		}
		next := *before
		now := api.Stamp(op.o.Now())
		if before.IsExpired(now) {
			return fault.Conflictf("token %s has expired at %s, and a new secret would be invalid too: revoke it, and create "+
				"another token", name, before.ExpiresAt.UTC().Format(time.RFC3339))
		}
		next.UpdatedAt, next.RotatedAt, next.PreviousHash, next.PreviousUntil = now, now, "", time.Time{}
		if kept > 0 {
			next.PreviousHash, next.PreviousUntil = before.Hash, now.Add(kept)
		}
		secret = renewSecret(&next)
		after, ch.Before, ch.After = &next, before, &next
		d.Put(after)
		return nil
	})
	return after, secret, err
}

// RevokeToken deletes a token. The last valid token stays, expired and with an unknown secret: without any token, nodes
// without api.tokens would accept requests of everyone. Revoking it again deletes it.
func (op *Operations) RevokeToken(r *Request, name string) error {
	if err := r.mayChangeTokens(); err != nil {
		return err
	}
	ch := &Change{Action: api.AuditDelete, Resource: store.KindToken, ID: name}
	return op.Define(r, ch, func(d *definitions.Draft) error {
		before := d.Now().Tokens[name]
		if before == nil {
			return errNoToken(name)
		}
		ch.Before = before
		now := api.Stamp(op.o.Now())
		if len(d.Now().Tokens) > 1 || before.IsExpired(now) {
			d.Delete(store.KindToken, name)
			return nil
		}
		kept := *before
		kept.UpdatedAt, kept.ExpiresAt, kept.PreviousHash, kept.PreviousUntil = now, now, "", time.Time{}
		renewSecret(&kept)
		ch.Action, ch.After = api.AuditUpdate, &kept
		d.Put(&kept)
		return nil
	})
}

func errNoToken(name string) error {
	return fault.NotFoundf("no token %.70q was created through the API", name)
}
