package model_test

import (
	"slices"
	"strings"
	"testing"

	"gslb.internal/shared/model"
)

// Version 0.9.0 names the id of a region name, its name label, and knows one continent.
func TestRegion_IsStoredForVersion090(t *testing.T) {
	const stored = `{"name":"eu-west","label":"Western Europe","code":"","description":"","latitude":null,` +
		`"longitude":null,"continent":"EU","countries":null,"enabled":false,"priority":3}`
	r, err := model.Decode[model.Region]([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "eu-west" || r.Label != "Western Europe" || !slices.Equal(r.Continents, []string{"EU"}) || r.Enabled ||
		r.Priority != 3 {
		t.Errorf("%+v", r)
	}
	text, err := model.Encode(r)
	if want := `{"continent":"EU","enabled":false,"label":"Western Europe","name":"eu-west","priority":3}`; err != nil ||
		string(text) != want {
		t.Errorf("%s, want %s: %v", text, want, err)
	}
	r.Continents = append(r.Continents, "AS")
	if text, err = model.Encode(r); err != nil || !strings.Contains(string(text), `"continent":"EU","continents":["EU","AS"]`) {
		t.Errorf("%s: %v", text, err)
	}
	if r, err = model.Decode[model.Region](text); err != nil || len(r.Continents) != 2 {
		t.Errorf("%+v: %v", r, err)
	}
}

// The API of version 0.9.0 has the continents as a text with commas.
func TestRegion_ContinentsMayBeOneText(t *testing.T) {
	for value, want := range map[string]string{`{"continent":"EU,AS"}`: "EU,AS", `{"continent":""}`: "",
		`{"continents":["NA"]}`: "NA", `{"continents":null}`: ""} {
		var patch model.Patch[model.Region]
		if err := patch.UnmarshalJSON([]byte(value)); err != nil {
			t.Fatal(err)
		}
		r := model.New[model.Region]()
		r.Continents = model.Continents{"AF"}
		if problems := patch.Apply(r, model.FromOperator); len(problems) > 0 || r.Continents.String() != want || !r.Enabled {
			t.Errorf("%s: %+v %v", value, r, problems)
		}
	}
}

// The audit log of version 0.9.0 has the source of a mapping.
func TestMapping_OfVersion090IsRead(t *testing.T) {
	m, err := model.Decode[model.Mapping]([]byte(`{"cidr":"192.0.2.0/24","region":"eu","comment":"","source":"api"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := model.Encode(m)
	if want := `{"cidr":"192.0.2.0/24","comment":"","region":"eu"}`; err != nil || string(text) != want {
		t.Errorf("%s, want %s: %v", text, want, err)
	}
}
