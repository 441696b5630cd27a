package dnsupdate

import (
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// Keys returns the TSIG keys among the tokens of the API. Its methods are safe for concurrent use and do not block.
type Keys struct {
	defined func() *definitions.Set
	now     func() time.Time
	latest  atomic.Pointer[keySet]
}

// keySet contains the TSIG keys of a set of definitions.
type keySet struct {
	of   *definitions.Set
	keys map[string]*model.Token
}

// NewKeys returns the keys of the current definitions, which defined returns.
func NewKeys(defined func() *definitions.Set, now func() time.Time) *Keys {
	return &Keys{defined: defined, now: now}
}

func (k *Keys) current() map[string]*model.Token {
	set := k.defined()
	if latest := k.latest.Load(); latest != nil && latest.of == set {
		return latest.keys
	}
	next := &keySet{set, map[string]*model.Token{}}
	for name, t := range set.Tokens {
		if t.Type == model.TokenTSIG && definitions.CheckToken(t) == nil {
			next.keys[name] = t
		}
	}
	k.latest.Store(next)
	return next.keys
}

// Exist reports whether there are keys.
func (k *Keys) Exist() bool { return len(k.current()) > 0 }

// Get returns the key with a name, if it has not expired.
func (k *Keys) Get(name string) (Key, bool) {
	t := k.current()[name]
	if t == nil || t.IsExpired(k.now()) {
		return Key{}, false
	}
	key := Key{Algorithm: t.Algorithm, Secret: t.Secret, Allows: func(name, owner string) bool {
		return t.Scope.Permits(model.ActionDefine) &&
			t.Scope.Covers((&model.Record{Name: name, Meta: model.Meta{Owner: owner}}).Scoped())
	}}
	if len(t.Scope.Owners) > 0 {
		key.Owner = t.Scope.Owners[0]
	}
	return key, true
}
