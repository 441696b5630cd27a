package model_test

import (
	"reflect"
	"strings"
	"testing"

	"gslb.internal/shared/model"
)

// Each kind has its name once, comes after the kinds that it refers to, and its objects keep their values from Encode
// to Decode.
func TestKinds_AreDeclaredOnceAndKeepValues(t *testing.T) {
	declared := map[string]bool{}
	for _, k := range model.Kinds() {
		if declared[k.Name] || model.KindNamed(k.Name) != k || model.KindOf(k.New()) != k {
			t.Errorf("kind %s is declared twice or is not found", k.Name)
		}
		declared[k.Name] = true
		made := filled(t, k)
		for _, r := range k.References(made) {
			if !declared[r.Kind] || k.Fields.Find(r.Field) == nil || r.Key != "x" {
				t.Errorf("%s: reference %+v", k.Name, r)
			}
		}
		encoded, err := k.Encode(made)
		if err != nil {
			t.Fatal(err)
		}
		again, err := k.Decode(encoded)
		if err != nil || !reflect.DeepEqual(again, made) || again.Key() != made.Key() {
			t.Errorf("%s: %s became %+v, %v", k.Name, encoded, again, err)
		}
	}
	if model.KindNamed("tunnel") != nil {
		t.Error("an undeclared kind is found")
	}
}

// filled returns an object of a kind without a field that has its default.
func filled(t *testing.T, k *model.Kind) model.Object {
	t.Helper()
	made := k.New()
	v := reflect.ValueOf(made).Elem()
	for i := range k.Fields.List {
		f := &k.Fields.List[i]
		fields, at := &model.Fields{List: []model.Field{*f}}, v
		if inner := f.Inner(); inner != nil {
			fields, at = inner, f.Value(v)
		}
		for n := range fields.List {
			alter(t, fields.List[n].Value(at))
		}
	}
	return made
}

// The stored form of a region is that of version 0.9.0, in both directions. It has one continent for version 0.9.0.
func TestRegion_IsStoredAsVersion090(t *testing.T) {
	r, err := model.Decode[model.Region]([]byte(`{"name":"eu","label":"Europe","code":"E","description":"","latitude":1,` +
		`"longitude":2,"continent":"EU","countries":null,"enabled":false,"priority":3,"routing_algorithm":"latency",` +
		`"owner":"a","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","later":1}`))
	if err != nil || r.Key() != "eu" || r.Label != "Europe" || *r.Latitude != 1 || len(r.Continents) != 1 || r.Enabled ||
		r.RoutingAlgorithm != "latency" || r.Owner != "a" || string(r.Extra["later"]) != "1" {
		t.Fatalf("%+v, %v", r, err)
	}
	r.Continents = append(r.Continents, "AS")
	encoded, err := model.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"eu"`, `"label":"Europe"`, `"continent":"EU"`, `"continents":["EU","AS"]`,
		`"enabled":false`, `"later":1`} {
		if !strings.Contains(string(encoded), want) {
			t.Errorf("%s lacks %s", encoded, want)
		}
	}
	again, err := model.Decode[model.Region](encoded)
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%+v, %v", again, err)
	}
}

// Validate reports values out of bounds, and faults of several fields.
func TestValidate_ReportsFaultsOfOneObject(t *testing.T) {
	for _, test := range []struct{ kind, object, key string }{
		{model.KindRegion, `{"name":"eu","priority":-1}`, "priority"},
		{model.KindRegion, `{"name":"eu","latitude":100,"longitude":0}`, "latitude"},
		{model.KindRegion, `{"name":"eu","latitude":1}`, "latitude"},
		{model.KindRegion, `{"name":"eu","countries":["DE","DE"]}`, "countries[1]"},
		{model.KindRegion, `{"name":"eu","continent":"XX"}`, "continents[0]"},
		{model.KindRegion, `{"name":"eu","label":"a\nb"}`, "name"},
		{model.KindMapping, `{"cidr":"192.0.2.1/24","region":"eu"}`, "cidr"},
		{model.KindMapping, `{"cidr":"192.0.2.0/24","region":"eu","comment":"\u0000"}`, "comment"},
		{model.KindDomain, `{"name":"a.example","srv":["x"]}`, "srv[0]"},
	} {
		k := model.KindNamed(test.kind)
		o, err := k.Decode([]byte(test.object))
		if err != nil {
			t.Fatal(err)
		}
		if found := k.Validate(o); len(found) != 1 || found[0].Key != test.key {
			t.Errorf("%s: %v", test.object, found)
		}
	}
}
