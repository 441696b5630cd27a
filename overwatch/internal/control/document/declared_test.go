package document // inside: it calls declaredSection, of which other kinds replace parts

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// A kind of declared objects without code in this package is read, written, drafted and stored by its declaration.
func TestDeclaredSection_HandlesAKindByItsDeclaration(t *testing.T) {
	s := declaredSection(definitions.Find(model.KindMapping).(definitions.Declared))
	readElement := s.read(nil)
	one, err := readElement(json.RawMessage(`{"cidr":"192.0.2.0/24","region":"eu","comment":"lab","owner":"shop"}`))
	if err != nil || one.section != model.KindMapping || one.id != "192.0.2.0/24" ||
		*s.owned(one.object).owner != "shop" || !reflect.DeepEqual(s.regions(one.object), []string{"eu"}) {
		t.Fatalf("read %+v, %v", one, err)
	}
	for element, words := range map[string]string{`7`: "must be a JSON object with", `{"cidr":7}`: "cidr",
		`{"cidr":"192.0.2.0/24","region":"eu","weight":1}`: "unknown field", `{"cidr":"192.0.2.0/24"}`: "region is",
		`{"cidr":"192.0.2.0/24","region":"eu","owner":"a b"}`: "owner is"} {
		if _, err := readElement(json.RawMessage(element)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", element, err, words)
		}
	}
	written, err := s.write(nil, one.id, one.object)
	if text, _ := json.Marshal(written); err != nil ||
		string(text) != `{"cidr":"192.0.2.0/24","comment":"lab","owner":"shop","region":"eu"}` {
		t.Errorf("written %s, %v", text, err)
	}
	d := new(definitions.Set).Edit(nil, nil, nil)
	if err := s.put(d, one.id, one.object); err != nil || s.get(d.Now(), one.id) != one.object ||
		len(s.held(nil, d.Now())) != 1 {
		t.Errorf("the draft has %+v, %v", d.Now(), err)
	}
	encoded, err := s.encode(s.held(nil, d.Now()))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(encoded)
	if back, err := s.decode(text); err != nil || !reflect.DeepEqual(back[one.id], one.object) {
		t.Errorf("stored as %s, and read as %+v, %v", text, back, err)
	}
	if err := s.put(d, one.id, nil); err != nil || s.get(d.Now(), one.id) != nil {
		t.Errorf("after a deletion the draft has %+v, %v", d.Now(), err)
	}
}
