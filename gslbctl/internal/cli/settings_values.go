package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// assignments parses "key=value" words into the JSON of a change. Values are YAML; a list is [a, b]
// or a,b.
func assignments(words, known []string) ([]byte, error) {
	change := map[string]any{}
	for _, word := range words {
		key, text, found := strings.Cut(word, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("%q is no setting: write key=value", word)
		}
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%q cannot be changed: it must be one of %s", key, strings.Join(known, ", "))
		}
		if _, twice := change[key]; twice {
			return nil, fmt.Errorf("%q is given twice", key)
		}
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("the value of %q is %q, which cannot be read: %w", key, text, err)
		}
		if listKeys[key] {
			value = listValue(text, value)
		}
		if value == nil {
			value = "" // key= means an empty text
		}
		change[key] = value
	}
	return json.Marshal(change)
}

// listKeys are the settings with lists as values.
var listKeys = map[string]bool{"zones": true, "seeds": true}

func listValue(text string, value any) any {
	switch value.(type) {
	case []any:
		return value
	case nil:
		return []string{}
	}
	return strings.Split(text, ",")
}

// settingsTable returns a table of a section: each field, and whether its value differs from the file.
func settingsTable(name string, answer any) (*render.Table, error) {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, err
	}
	inner, _ := fields["config"].(map[string]any)
	if inner == nil {
		inner, _ = fields["preferences"].(map[string]any)
	}
	inner = flat(inner)
	changed, waiting := texts(fields["overlay"]), texts(fields["restart_required"])
	t := &render.Table{Columns: []render.Column{{Name: strings.ToUpper(name)}, {Name: "VALUE"}}}
	if fields["overlay"] != nil {
		t.Columns = append(t.Columns, render.Column{Name: "CHANGED BY THE API"})
	}
	for _, key := range slices.Sorted(maps.Keys(inner)) {
		row := []render.Cell{render.C(key), orNone(valueText(inner[key])),
			render.C(render.YesNo(slices.Contains(changed, key)))}
		t.Add(row[:len(t.Columns)]...)
	}
	for _, key := range waiting { // an answer with this field also has an overlay
		t.Add(render.Cell{Text: key, Tone: render.Warn}, render.C("waits for a restart"), render.C(render.None))
	}
	return t, nil
}

// flat replaces nested objects by their fields, named object.field.
func flat(fields map[string]any) map[string]any {
	up := map[string]any{}
	for key, value := range fields {
		inner, isObject := value.(map[string]any)
		if !isObject {
			up[key] = value
			continue
		}
		for name, v := range flat(inner) {
			up[key+"."+name] = v
		}
	}
	return up
}

func texts(list any) []string {
	var found []string
	items, _ := list.([]any)
	for _, item := range items {
		found = append(found, fmt.Sprint(item))
	}
	return found
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		return strings.Join(texts(v), " ")
	default:
		encoded, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(encoded)
	}
}

// restartWaits returns the keys in an answer that take effect after a restart.
func restartWaits(answer any) []string {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return nil
	}
	var state api.ConfigState
	if json.Unmarshal(encoded, &state) != nil {
		return nil
	}
	return state.RestartRequired
}

// settingError returns an error that names the "key=value" word with a value of the wrong type.
func settingError(err error, words []string) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	found := "a " + wrong.Value
	for _, word := range words {
		if value, of := strings.CutPrefix(word, wrong.Field+"="); of {
			found = strconv.Quote(value)
		}
	}
	return fmt.Errorf("%s is %s: it must be %s", wrong.Field, found, kindOf(wrong.Type))
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a map"
	}
	return "a text"
}
