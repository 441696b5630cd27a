package model_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/model"
)

// The stored form of version 0.9.0 becomes the same domain, and the form that this version stores has the fields that
// version 0.9.0 needs.
func TestDecode_ReadsVersion090(t *testing.T) {
	d, err := model.Decode[model.Domain]([]byte(`{"name":"a.example","ttl":0,"routing_policy":"weighted","regions":null,` +
		`"unsigned":true,"enabled":false,"description":"x","proximity_tolerance_km":7.5,"created_at":"2026-01-02T03:04:05Z",` +
		`"updated_at":"0001-01-01T00:00:00Z","https":{"alpn":["h2"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d.RoutingAlgorithm != "weighted" || !d.Unsigned() || d.Enabled || d.ToleranceKm != 7.5 || d.MaxAnswers != 1 ||
		d.CreatedAt.Year() != 2026 || len(d.HTTPS.ALPN) != 1 || d.Answer != model.AnswerAddress {
		t.Errorf("%+v", d)
	}
	encoded, err := model.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"routing_policy":"weighted"`, `"unsigned":true`, `"enabled":false`} {
		if !strings.Contains(string(encoded), want) {
			t.Errorf("%s lacks %s", encoded, want)
		}
	}
	if strings.Contains(string(encoded), `"answer"`) { // 0.9.0 reads any answer as cname
		t.Error(string(encoded))
	}
	again, err := model.Decode[model.Domain](encoded)
	if err != nil || !reflect.DeepEqual(again, d) {
		t.Errorf("%+v, %v", again, err)
	}
}

// Decode stores the fields of later versions up to MaxExtra octets.
func TestDecode_KeepsTheFieldsOfLaterVersions(t *testing.T) {
	d, err := model.Decode[model.Domain]([]byte(`{"name":"a.example","sticky":{"for":"1h"}}`))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := model.Encode(d)
	if err != nil || !strings.Contains(string(encoded), `"sticky":{"for":"1h"}`) {
		t.Errorf("%s, %v", encoded, err)
	}
	large := `{"name":"a.example","sticky":"` + strings.Repeat("x", model.MaxExtra) + `"}`
	if _, err := model.Decode[model.Domain]([]byte(large)); err == nil {
		t.Error("Decode accepts a large unknown field")
	}
}

// SameAnswers compares each field with an effect on answers, also a field that is added later.
func TestSameAnswers_ComparesAllFields(t *testing.T) {
	ignored := map[string]bool{"name": true, "brake": true, "recovery": true, "flap": true, "description": true,
		"tags": true, "owner": true, "created_at": true, "updated_at": true}
	plain, all := model.New[model.Domain](), model.FieldsOf(reflect.TypeFor[model.Domain]())
	if !plain.SameAnswers(model.New[model.Domain]()) {
		t.Error("two domains with defaults differ")
	}
	for i := range all.List {
		f := &all.List[i]
		changed := model.New[model.Domain]()
		value := f.Value(reflect.ValueOf(changed).Elem())
		leaves := []reflect.Value{value}
		if inner := f.Inner(); inner != nil {
			leaves = nil
			for j := range inner.List {
				leaves = append(leaves, inner.List[j].Value(value))
			}
		}
		for _, leaf := range leaves {
			was := reflect.New(leaf.Type()).Elem()
			was.Set(leaf)
			alter(t, leaf)
			if same := plain.SameAnswers(changed); same != ignored[f.JSON] {
				t.Errorf("%s = %v: SameAnswers returns %v", f.JSON, leaf, same)
			}
			leaf.Set(was)
		}
	}
}

// alter sets a field to a value that is not the default.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.ValueOf([]string{"x"}).Convert(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem())) // false, where nil means true
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[netip.Prefix]() {
			v.Set(reflect.ValueOf(netip.MustParsePrefix("192.0.2.0/24")))
			return
		}
		if v.Type() == reflect.TypeFor[model.Failback]() {
			v.Set(reflect.ValueOf(model.Failback{Manual: true}))
			return
		}
		v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
	default:
		t.Fatalf("no other value for %s", v.Type())
	}
}

// FuzzDecode_Domain holds that a decoded object encodes to a form that decodes to the same object.
func FuzzDecode_Domain(f *testing.F) {
	f.Add([]byte(`{"name":"a.example","ttl":5,"brake":{"window":"1m"},"https":null,"x":[1]}`))
	f.Add([]byte(`{"routing_policy":"x","routing_algorithm":"y","tags":["a"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := model.Decode[model.Domain](data)
		if err != nil {
			return
		}
		encoded, err := model.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := model.Decode[model.Domain](encoded)
		if err != nil {
			t.Fatalf("%s: %v", encoded, err)
		}
		a, _ := json.Marshal(again)
		b, _ := json.Marshal(d)
		if string(a) != string(b) {
			t.Fatalf("%s became %s", b, a)
		}
	})
}
