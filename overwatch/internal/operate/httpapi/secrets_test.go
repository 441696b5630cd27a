package httpapi // inside: it shares world_test.go

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// plant gives every secret of a configuration a value of its own and returns
// these; a secret that is added later is planted as well.
func plant(v reflect.Value, path string) (planted []string) {
	secret := func() reflect.Value {
		text := fmt.Sprintf("planted-secret-%s-0123456789abcdef", path)
		planted = append(planted, text)
		return reflect.ValueOf(settings.Secret(text))
	}
	switch {
	case v.Type() == reflect.TypeFor[settings.Secret]():
		v.Set(secret())
	case v.Type() == reflect.TypeFor[map[string]settings.Secret]():
		v.Set(reflect.ValueOf(map[string]settings.Secret{"named": secret().Interface().(settings.Secret)}))
	case v.Type() == reflect.TypeFor[[]settings.Secret]():
		v.Set(reflect.ValueOf([]settings.Secret{secret().Interface().(settings.Secret)}))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Tag.Get("key"); name != "" {
				planted = append(planted, plant(v.Field(i), path+"."+name)...)
			}
		}
	}
	return planted
}

// TestSecrets_AreInNoAnswerNoAuditEntryAndNoLine asks and changes everything
// with a configuration whose every secret can be told.
func TestSecrets_AreInNoAnswerNoAuditEntryAndNoLine(t *testing.T) {
	w := newWorld(t)
	cfg := *w.cfg.Load()
	planted := plant(reflect.ValueOf(&cfg).Elem(), "config")
	if len(planted) < 5 {
		t.Fatalf("the configuration has secrets %v only", planted)
	}
	w.cfg.Store(&cfg)
	admin := cfg.API.Tokens.Admin["named"].Reveal()
	seen := strings.Builder{}
	for _, o := range Operations() {
		for _, body := range []string{"", "{}", `{"reason":"r","healthy":true}`, `{"encryption_key":"x"}`} {
			if o.Method == http.MethodGet && body != "" {
				continue
			}
			answer := w.send(o.Method, examplePath(&o), body, "Authorization", "Bearer "+admin)
			if answer.status == http.StatusUnauthorized || answer.status == http.StatusForbidden {
				t.Fatalf("%s %s: %d", o.Method, o.Path, answer.status)
			}
			seen.WriteString(answer.body)
			fmt.Fprint(&seen, answer.header)
		}
	}
	w.writeRefusals()
	for _, room := range []audit.Room{audit.Changes, audit.Refusals} {
		entries := 0
		for e, err := range w.audit.Newest(room) {
			w.must(err)
			fmt.Fprintf(&seen, "%+v %s %s", e, e.Before, e.After)
			entries++
		}
		if entries == 0 {
			t.Errorf("room %d of the audit log is empty", room)
		}
	}
	all := seen.String() + w.log.String() + fmt.Sprintf("%v %+v %#v", cfg, cfg, config.API{Tokens: cfg.API.Tokens})
	for _, secret := range planted {
		if strings.Contains(all, secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}
