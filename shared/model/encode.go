package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// MaxExtra bounds the fields of later versions in one object, in octets of JSON.
const MaxExtra = 16 << 10

// Meta holds the fields that the node or documents set.
type Meta struct {
	// The document owner that manages the object; empty: none.
	Owner     string    `json:"owner,omitempty" source:"document"`
	CreatedAt time.Time `json:"created_at" source:"node"`
	UpdatedAt time.Time `json:"updated_at" source:"node"`
	// Extra holds the fields of later versions. This version stores and forwards them without effect.
	Extra map[string]json.RawMessage `json:"-"`
}

// Metadata returns m.
func (m *Meta) Metadata() *Meta { return m }

// extensible is a pointer to a struct that embeds Meta.
type extensible interface{ Metadata() *Meta }

// legacy converts an object from and to the stored form of version 0.9.0, so that nodes of both versions replicate.
type legacy interface {
	readLegacy(fields map[string]any) error
	writeLegacy(fields map[string]any)
}

var _, _, _, _ legacy = (*Domain)(nil), (*Server)(nil), (*Region)(nil), (*Mapping)(nil)

// New returns an object with the default of each field.
func New[T any]() *T {
	made := new(T)
	reflect.ValueOf(made).Elem().Set(FieldsOf(reflect.TypeFor[T]()).defaults)
	return made
}

// Decode returns the object of a stored or replicated form. Missing fields have their defaults. Extra holds unknown
// fields; more than MaxExtra octets are an error. Decode does not check the bounds of values.
func Decode[T any](data []byte) (*T, error) {
	made := New[T]()
	var patch Patch[T]
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	if l, ok := any(made).(legacy); ok {
		if err := l.readLegacy(patch); err != nil {
			return nil, err
		}
	}
	if problems := patch.Apply(made, fromStore); len(problems) > 0 {
		return nil, problems
	}
	o, ok := any(made).(extensible)
	if !ok {
		return made, nil
	}
	size := 0
	for name, value := range patch {
		if FieldsOf(reflect.TypeFor[T]()).Find(name) != nil {
			continue
		}
		raw, _ := value.(json.RawMessage)
		if size += len(name) + len(raw); size > MaxExtra {
			return nil, fmt.Errorf("the fields of later versions have more than %d octets", MaxExtra)
		}
		m := o.Metadata()
		if m.Extra == nil {
			m.Extra = map[string]json.RawMessage{}
		}
		m.Extra[name] = raw
	}
	return made, nil
}

// Encode returns the stored and replicated form of an object, which of points to: the fields that differ from their
// defaults. It panics for a nil pointer.
func Encode(of any) ([]byte, error) {
	v := reflect.ValueOf(of).Elem()
	fields := written(FieldsOf(v.Type()), v, fromStore)
	if o, ok := of.(extensible); ok {
		for name, value := range o.Metadata().Extra {
			fields[name] = value
		}
	}
	if l, ok := of.(legacy); ok {
		l.writeLegacy(fields)
	}
	return json.Marshal(fields)
}

// Written returns the fields of an object for a document: the fields that differ from their defaults, and the fields
// with the tag write:"always". It omits the fields that the node sets.
func Written[T any](of *T) Patch[T] {
	return written(FieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(of).Elem(), FromDocument)
}

// All returns all fields of an object that an operator may set, with their values.
func All[T any](of *T) Patch[T] {
	fields := map[string]any{}
	all, v := FieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(of).Elem()
	for i := range all.List {
		if f := &all.List[i]; f.settable(FromOperator) {
			fields[f.JSON] = f.Value(v).Interface()
		}
	}
	return fields
}

// written returns, by JSON name, the fields of the struct v that differ from their defaults or have the tag
// write:"always". It omits the fields that source may not set.
func written(all *Fields, v reflect.Value, source string) map[string]any {
	fields := map[string]any{}
	for i := range all.List {
		f := &all.List[i]
		value := f.Value(v)
		switch {
		case source != fromStore && !f.settable(source):
		case f.inner != nil:
			if inner := written(f.inner, f.object(value), source); len(inner) > 0 {
				fields[f.JSON] = inner
			}
		case f.always || !sameValue(value, f.Value(all.defaults)):
			fields[f.JSON] = value.Interface()
		}
	}
	return fields
}

// sameValue reports whether two values of a field are equal. A nil list and an empty list are equal.
func sameValue(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
