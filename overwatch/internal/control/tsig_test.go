package control // inside: it shares created_test.go

import (
	"encoding/base64"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

func TestTSIGKey_HasOnlyValidKeys(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	var batch store.Batch
	for name, edit := range map[string]func(*model.Token){
		"acme.example":    func(*model.Token) {},
		"expired.example": func(k *model.Token) { k.ExpiresAt = time.Now().Add(-time.Minute) },
		"short.example":   func(k *model.Token) { k.Secret = "AAAA" },
		"reader.example":  func(k *model.Token) { k.Role = "read" },
		"bearer.example":  func(k *model.Token) { k.Type = model.TokenBearer },
	} {
		k := model.New[model.Token]()
		k.Name, k.Type, k.Role, k.Algorithm, k.Secret = name, model.TokenTSIG, "admin", model.HMACSHA256, key
		k.Scope.Names = []string{"_acme-challenge.example"}
		edit(k)
		batch.PutObject(store.KindToken, k)
	}
	if err := kept.Write(&batch); err != nil {
		t.Fatal(err)
	}
	s := stateOf(t, kept, fileWith("a.example"))
	algorithm, secret, scope, found := s.TSIGKey("ACME.example.")
	if !found || algorithm != model.HMACSHA256 || len(secret) != 32 || len(scope.Names) != 1 {
		t.Errorf("%s %x %+v %v", algorithm, secret, scope, found)
	}
	for _, name := range []string{"expired.example", "short.example", "reader.example", "bearer.example", "none.example"} {
		if _, secret, _, found := s.TSIGKey(name); found || secret != nil {
			t.Errorf("%s is a key", name)
		}
	}
}
