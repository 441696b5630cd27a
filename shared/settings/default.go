package settings

import (
	"fmt"
	"reflect"
	"strings"
)

// SetDefaults gives the struct that into points to what the tags `default` of its fields say: a value as a file would
// have it, for a list its elements with ", " between. Load does so for structs in lists and maps; for the others the
// caller does.
func SetDefaults(into any) {
	v := reflect.ValueOf(into).Elem()
	schema{}.of(v.Type()).keys.setDefaults(v)
}

func (k *structure) setDefaults(v reflect.Value) {
	for i := range k.fields {
		f := &k.fields[i]
		value := v.FieldByIndex(f.index)
		switch {
		case f.standard == "":
			if f.shape == structShape && !f.pointer {
				f.keys.setDefaults(value)
			}
		case f.shape == listShape:
			texts := strings.Split(f.standard, ", ")
			value.Set(reflect.MakeSlice(value.Type(), len(texts), len(texts)))
			for n, text := range texts {
				f.mustSet(f.element.set, value.Index(n), text)
			}
		default:
			f.mustSet(f.set, value, f.standard)
		}
	}
}

// mustSet sets a value of a tag, which the program's author wrote.
func (f *field) mustSet(set setter, v reflect.Value, text string) {
	if remedy := set(v, text); remedy != "" {
		panic(fmt.Sprintf("the tag of key %s has %q: %s", f.name, text, remedy))
	}
}
