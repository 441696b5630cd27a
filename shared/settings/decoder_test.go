package settings_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"gslb.internal/shared/settings"
)

func TestDecoder_ErrorsHaveLinesAndNoValues(t *testing.T) {
	type part struct {
		Token string   `yaml:"token"`
		List  []string `yaml:"list"`
	}
	for text, want := range map[string]string{
		"token: a\n\nlist: [":           "not valid YAML: ",
		"token: a\ntokn: secret":        "2: unknown key \"tokn\"",
		"token: a\nlist: secret":        "2: a text is not possible here",
		"token:\n  - secret":            "2: a list is not possible here",
		"token: a\ntoken: secret":       "2: mapping key \"token\" already defined at line 1",
		"token: !!int secret":           "1: not valid YAML: the tag (!!) of a value does not fit the value",
		"list: {a: secret}\ntokn: a":    "2: unknown key \"tokn\"",
		"token: a\n  list: [a]\ntokn: ": "2: not valid YAML: ",
	} {
		var into part
		err := settings.NewDecoder(text).Decode(&into)
		problems, is := errors.AsType[settings.Problems](err)
		if !is {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for i := range problems {
			problems[i].File = "f"
		}
		if got := problems.Error(); !strings.Contains(got, want) || strings.Contains(got, "secret") ||
			strings.Contains(got, "part") {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	decoder := settings.NewDecoder("token: a\n---\ntoken: b\n")
	var first, second part
	err := errors.Join(decoder.Decode(&first), decoder.Decode(&second))
	if err != nil || first.Token+second.Token != "ab" {
		t.Errorf("%v, %+v, %+v", err, first, second)
	}
	if err := decoder.Decode(&first); !errors.Is(err, io.EOF) {
		t.Errorf("after the last document: %v", err)
	}
}
