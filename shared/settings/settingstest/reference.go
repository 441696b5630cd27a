// Package settingstest holds a module's reference table of configuration keys against the struct that they are read
// into. It is for tests.
package settingstest

import (
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/settings"
)

// Row is one key of a reference table: | `key` | type | default | meaning |.
type Row struct{ Key, Type, Default, Meaning string }

// CheckReference compares the tables of the Markdown file at path with the struct that defaults points to, which holds
// the defaults: the same keys, each with its type and default, and for each secret the names of its other sources.
func CheckReference(t *testing.T, path string, defaults any, envPrefix string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]Row{}
	for line := range strings.Lines(string(text)) {
		row, ok := parseRow(line)
		if !ok {
			continue
		}
		if _, again := documented[row.Key]; again {
			t.Errorf("%s: %s is there twice", path, row.Key)
		}
		documented[row.Key] = row
	}
	for _, want := range keys("", reflect.ValueOf(defaults).Elem(), envPrefix) {
		got, ok := documented[want.Key]
		if !ok {
			t.Errorf("%s: %s is missing; it needs a row like | `%s` | %s | %s | ... |", path, want.Key, want.Key, want.Type, want.Default)
			continue
		}
		delete(documented, want.Key)
		if got.Type != want.Type || got.Default != want.Default {
			t.Errorf("%s: %s is %q with default %q, the program has %q with default %q", path, want.Key, got.Type, got.Default, want.Type, want.Default)
		}
		if got.Meaning == "" || !strings.Contains(got.Meaning, want.Meaning) {
			t.Errorf("%s: the meaning of %s does not say %q", path, want.Key, want.Meaning)
		}
	}
	delete(documented, "includes") // read by package settings itself
	for key := range documented {
		t.Errorf("%s: the program has no key %s", path, key)
	}
}

func parseRow(line string) (Row, bool) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	if len(cells) != 4 || !strings.HasPrefix(strings.TrimSpace(cells[0]), "`") {
		return Row{}, false
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return Row{strings.Trim(cells[0], "`"), cells[1], cells[2], cells[3]}, true
}

// keys lists the rows that a struct's table must have. Meaning is what the cell must contain.
func keys(prefix string, v reflect.Value, envPrefix string) []Row {
	var rows []Row
	for _, f := range reflect.VisibleFields(v.Type()) {
		tag, ok := f.Tag.Lookup("key")
		if !ok {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		key, value := prefix+name, v.FieldByIndex(f.Index)
		below := elements(key, value)
		if below != nil && below.prefix == key+"." {
			rows = append(rows, keys(below.prefix, below.value, envPrefix)...)
			continue
		}
		row := Row{Key: key, Type: typeName(value.Type()), Default: defaultText(value)}
		if option == "single" {
			row.Type = "string or " + row.Type
		}
		if strings.Contains(row.Type, "secret") {
			row.Meaning = envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		}
		rows = append(rows, row)
		if below != nil {
			rows = append(rows, keys(below.prefix, below.value, envPrefix)...)
		}
	}
	return rows
}

// inner is a struct that has keys of its own below a key.
type inner struct {
	prefix string
	value  reflect.Value
}

// elements returns what stands below a key: the struct itself, or one of a list's or map's, with its defaults.
func elements(key string, v reflect.Value) *inner {
	t := v.Type()
	prefix := key + "."
	switch t.Kind() {
	case reflect.Slice:
		t, prefix = t.Elem(), key+"[]."
	case reflect.Map:
		t, prefix = t.Elem(), key+".<service>."
	case reflect.Pointer:
		t = t.Elem()
	case reflect.Struct:
		if isScalar(t) {
			return nil
		}
		return &inner{prefix, v}
	}
	if t.Kind() != reflect.Struct || isScalar(t) {
		return nil
	}
	fresh := reflect.New(t)
	settings.SetDefaults(fresh.Interface())
	return &inner{prefix, fresh.Elem()}
}

func isScalar(t reflect.Type) bool {
	return slices.Contains([]reflect.Type{reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.Prefix]()}, t)
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[settings.Secret]():
		return "secret"
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[netip.Addr]():
		return "address"
	case reflect.TypeFor[netip.Prefix]():
		return "network"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Map:
		return "map to " + typeName(t.Elem())
	case reflect.Struct:
		return "keys"
	case reflect.Uint16:
		return "port"
	case reflect.Float64:
		return "number"
	}
	return t.Kind().String()
}

// defaultText writes a default as it would stand in a file; "" is written as a hyphen.
func defaultText(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool && v.Kind() != reflect.Int {
		return "-"
	}
	if v.Kind() == reflect.Slice {
		var entries []string
		for i := range v.Len() {
			entries = append(entries, fmt.Sprint(v.Index(i)))
		}
		return "`" + strings.Join(entries, ", ") + "`"
	}
	text := fmt.Sprint(v)
	if v.Type() == reflect.TypeFor[time.Duration]() { // 5m, not 5m0s
		if short, found := strings.CutSuffix(text, "m0s"); found {
			text = short + "m"
		}
		if short, found := strings.CutSuffix(text, "h0m"); found {
			text = short + "h"
		}
	}
	return "`" + text + "`"
}
