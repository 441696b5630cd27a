package dnsupdate_test

import (
	"encoding/base64"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/operate/dnsupdate"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// Only valid TSIG keys are keys, and they change only records of their scope. A revoked key ends immediately.
func TestKeys_HasOnlyValidKeys(t *testing.T) {
	set := &definitions.Set{Tokens: map[string]*model.Token{}}
	for name, edit := range map[string]func(*model.Token){
		"acme.example":    func(*model.Token) {},
		"expired.example": func(k *model.Token) { k.ExpiresAt = time.Now().Add(-time.Minute) },
		"short.example":   func(k *model.Token) { k.Secret = "AAAA" },
		"bearer.example":  func(k *model.Token) { k.Type = model.TokenBearer },
	} {
		k := model.New[model.Token]()
		k.Name, k.Type, k.Role, k.Algorithm = name, model.TokenTSIG, "admin", model.HMACSHA256
		k.Secret = base64.StdEncoding.EncodeToString(make([]byte, 32))
		k.Scope.Zones, k.Scope.Owners = []string{"a.example"}, []string{"certs"}
		edit(k)
		set.Tokens[name] = k
	}
	keys := dnsupdate.NewKeys(func() *definitions.Set { return set }, time.Now)
	key, found := keys.Get("acme.example")
	if !found || !keys.Exist() || key.Owner != "certs" || key.Algorithm != model.HMACSHA256 {
		t.Fatalf("%+v, %v", key, found)
	}
	for _, tc := range []struct {
		name, owner string
		want        bool
	}{{"_acme-challenge.a.example", "certs", true}, {"a.example", "shop", false}, {"b.example", "certs", false}} {
		if got := key.Allows(tc.name, tc.owner); got != tc.want {
			t.Errorf("%s of %s: %v", tc.name, tc.owner, got)
		}
	}
	for _, name := range []string{"expired.example", "short.example", "bearer.example", "none.example"} {
		if _, found := keys.Get(name); found {
			t.Errorf("%s is a key", name)
		}
	}
	set = &definitions.Set{}
	if _, found := keys.Get("acme.example"); found || keys.Exist() {
		t.Error("a revoked key is a key")
	}
}
