package settings

import (
	"fmt"
	"reflect"
	"strings"
)

// SetDefaults sets the fields of the struct that into points to by their tags `default`: a value as in a file, for a
// list with ", " between its elements. Load sets the defaults of structs in lists and maps; for other structs, the
// caller calls SetDefaults.
func SetDefaults(into any) {
	v := reflect.ValueOf(into).Elem()
	schema{}.layoutOf(v.Type()).keys.setDefaults(v)
}

// setDefaults sets the fields of v to their defaults.
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

// mustSet sets a value from a tag. It panics for an invalid one, which is a fault of the program.
func (f *field) mustSet(set setter, v reflect.Value, text string) {
	if remedy := set(v, text); remedy != "" {
		panic(fmt.Sprintf("the tag of key %s has %q: %s", f.name, text, remedy))
	}
}
