package definitions_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// A kind of package model is stored, replicated, listed in documents and named in the audit log.
func TestKinds_EachOfPackageModelIsComplete(t *testing.T) {
	lists := map[string]bool{}
	for field := range reflect.TypeFor[api.Document]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		lists[name] = true
	}
	names := map[string]bool{}
	for _, k := range model.Kinds() {
		if names[k.Name] || names[k.Plural] {
			t.Errorf("the kind %s is there twice", k.Name)
		}
		names[k.Name], names[k.Plural] = true, true
		declared, is := definitions.Find(k.Name).(definitions.Declared)
		if !is || declared.Plural() != k.Plural || declared.Resource() != k.Resource || declared.Max() < 1 {
			t.Errorf("definitions have %+v as %s", declared, k.Name)
		}
		if !store.Replicates(k.Name) || store.ResourceOf(k.Name) != k.Resource ||
			!slices.Contains(api.AuditResources(), k.Resource) {
			t.Errorf("the kind %s is not replicated, or not in the audit log", k.Name)
		}
		if !lists[k.Plural] {
			t.Errorf("a document has no list %s", k.Plural)
		}
	}
}

// An object of a Set is found, changed and deleted by its kind, and the Set before stays as it is.
func TestDeclared_ChangesADraftOnly(t *testing.T) {
	before := setOf(domain("a.example"))
	d := before.Edit(nil, nil, nil)
	k := definitions.Find(model.KindDomain).(definitions.Declared)
	if err := k.Define(d, "b.example", json.RawMessage(`{"name":"b.example","ttl":7}`)); err != nil {
		t.Fatal(err)
	}
	if err := k.Define(d, "a.example", nil); err != nil {
		t.Fatal(err)
	}
	if err := k.Define(d, "c.example", json.RawMessage(`[]`)); err == nil {
		t.Error("a list is accepted as a domain")
	}
	if got := k.Get(d.Now(), "b.example"); got == nil || got.(*model.Domain).TTL != 7 ||
		k.Get(d.Now(), "a.example") != nil || k.Get(before, "a.example") == nil || k.Get(before, "b.example") != nil {
		t.Errorf("before %+v, now %+v", before, d.Now())
	}
	names := k.Differences(before, d.Now())
	if slices.Sort(names); !slices.Equal(names, []string{"a.example", "b.example"}) {
		t.Errorf("differences %v", names)
	}
	defer func() {
		if recover() == nil {
			t.Error("a server is accepted as a definition")
		}
	}()
	d.Put(&model.Server{})
}
