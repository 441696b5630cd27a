package settings

import (
	"encoding"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"
)

// shape is the form of a field's value.
type shape uint8

const (
	scalarShape shape = iota
	structShape
	listShape
	mapShape
)

// layout describes how values of a type are written and read.
type layout struct {
	shape   shape
	set     setter     // of a scalar
	element *layout    // of the elements of a list or map
	keys    *structure // of a struct
	// pointer: the value is a pointer to a struct. textual: a pointer to the struct is an encoding.TextUnmarshaler.
	pointer, textual bool
	fresh            reflect.Value // of a struct: a value with the defaults
}

// field is a key of a struct.
type field struct {
	name  string
	index []int // of the struct field, for reflect
	*layout
	secret bool // the key can have <key>_file or an environment variable as source
	single bool // a list that may also be written as a single value
	effect Effect

	standard string  // the default, as in a file
	bounds   *bounds // nil: no bounds
	set      setter  // of a scalar: within the bounds
}

// structure holds the keys of a struct type.
type structure struct {
	fields []field
	byName map[string]int // index into fields
}

// schema caches the layouts of types.
type schema map[reflect.Type]*layout

var (
	secretType = reflect.TypeFor[Secret]()
	addrType   = reflect.TypeFor[netip.Addr]()
	prefixType = reflect.TypeFor[netip.Prefix]()

	durationType     = reflect.TypeFor[time.Duration]()
	textDurationType = reflect.TypeFor[Duration]()
	textType         = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// layoutOf returns the layout of a type.
func (s schema) layoutOf(t reflect.Type) *layout {
	if known, ok := s[t]; ok {
		return known
	}
	l := &layout{shape: shapeOf(t)}
	s[t] = l // before its fields: a struct may contain its own type
	switch l.shape {
	case scalarShape:
		l.set = setterOf(t)
	case listShape, mapShape:
		l.element = s.layoutOf(t.Elem())
	case structShape:
		if l.pointer = t.Kind() == reflect.Pointer; l.pointer {
			t = t.Elem()
		}
		l.textual = reflect.PointerTo(t).Implements(textType)
		l.keys = s.structure(t)
		l.fresh = reflect.New(t).Elem()
		l.keys.setDefaults(l.fresh)
	}
	return l
}

// structure returns the keys of a struct type: its exported fields with a `key` tag. With the tag `key:"name,single"`,
// the file may have a single value instead of a list. An embedded struct with a tag is a key like any other field; the
// fields of an embedded struct without a tag are keys of t.
func (s schema) structure(t reflect.Type) *structure {
	keys := &structure{byName: map[string]int{}}
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("key")
		if !ok || inBlock(t, f.Index) {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		keys.byName[name] = len(keys.fields)
		known := field{
			name: name, index: f.Index, layout: s.layoutOf(f.Type), secret: isSecret(f.Type), single: option == "single",
			effect: Effect(f.Tag.Get("reload")), standard: f.Tag.Get("default"),
		}
		if known.set = known.layout.set; known.shape == scalarShape {
			if known.bounds = known.boundsOf(f.Type, f.Tag); known.bounds != nil {
				known.set = bounded(known.set, known.bounds)
			}
		}
		keys.fields = append(keys.fields, known)
	}
	return keys
}

// inBlock reports whether the field at index is promoted from an embedded struct that is itself a key.
func inBlock(t reflect.Type, index []int) bool {
	for depth := 1; depth < len(index); depth++ {
		if _, isKey := t.FieldByIndex(index[:depth]).Tag.Lookup("key"); isKey {
			return true
		}
	}
	return false
}

// find returns the key of a name, or nil.
func (k *structure) find(name string) *field {
	if i, ok := k.byName[name]; ok {
		return &k.fields[i]
	}
	return nil
}

// names returns the keys in the order of the struct.
func (k *structure) names() []string {
	names := make([]string, len(k.fields))
	for i, f := range k.fields {
		names[i] = f.name
	}
	return names
}

func shapeOf(t reflect.Type) shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == addrType || t == prefixType:
		return scalarShape
	case t.Kind() == reflect.Struct:
		return structShape
	case t.Kind() == reflect.Slice:
		return listShape
	case t.Kind() == reflect.Map:
		return mapShape
	}
	return scalarShape
}

// isSecret reports whether a type is Secret, or a list or map of it, or of lists of it.
func isSecret(t reflect.Type) bool {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t == secretType
}

// secretFileSuffix turns the key of a secret into the key of the file with the secret.
const secretFileSuffix = "_file"

// isSecretFile reports whether a key is the key of a secret with secretFileSuffix. In an element of a list or map, only
// keys of a single secret have such a file.
func (k *structure) isSecretFile(name string, inElement bool) bool {
	base, found := strings.CutSuffix(name, secretFileSuffix)
	f := k.find(base)
	return found && f != nil && f.secret && (!inElement || f.shape == scalarShape)
}

// leaf is a key outside lists and maps that has a value: a scalar, a list or a map.
type leaf struct {
	path  string // with dots
	field *field
	value reflect.Value
}

// leaves returns every leaf of a struct, in order.
func (s schema) leaves(prefix string, v reflect.Value) []leaf {
	var found []leaf
	keys := s.layoutOf(v.Type()).keys
	for i := range keys.fields {
		f := &keys.fields[i]
		path, value := prefix+f.name, v.FieldByIndex(f.index)
		if f.shape == structShape && value.Kind() == reflect.Struct {
			found = append(found, s.leaves(path+".", value)...)
			continue
		}
		found = append(found, leaf{path, f, value})
	}
	return slices.Clip(found)
}
