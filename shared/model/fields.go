package model

import (
	"reflect"
	"strings"
	"sync"

	"gslb.internal/shared/settings"
)

// Field is the declaration of a field of an object.
type Field struct {
	JSON    string // name in JSON
	Key     string // name in the configuration file, with the block of an embedded struct; "" for a field of JSON only
	Alias   string // second name in JSON; optional
	Type    reflect.Type
	Default string // as a configuration file writes it; "" for the zero value
	// Source is "" for a field that operators set, "document" for a field that only documents set, and "node" for a
	// field that the node sets.
	Source string
	Usage  string // meaning in a few words, for the help of a command
	// Holder and Name are the struct type that declares the field, and the field's name there.
	Holder, Name string

	least, most string // bounds as a configuration file writes them

	index     []int
	zeroUnset bool
	pointer   bool // to an object, or nil
	replace   bool
	secret    bool // problems do not contain the value
	always    bool // written even if it has the default
	bounds    func(reflect.Value) string
	inner     *Fields // of a struct; nil for other types
}

// Fields are the declared fields of an object or of a block of it, in the order of the declaration.
type Fields struct {
	Type     reflect.Type
	List     []Field
	byName   map[string]int // by name and alias
	defaults reflect.Value
}

var declarations sync.Map // reflect.Type of a struct to *Fields

// FieldsOf returns the declared fields of a struct type. It panics for a type that is not a struct.
func FieldsOf(t reflect.Type) *Fields {
	if known, ok := declarations.Load(t); ok {
		return known.(*Fields)
	}
	f := &Fields{Type: t, byName: map[string]int{}}
	fresh := reflect.New(t)
	settings.SetDefaults(fresh.Interface())
	f.defaults = fresh.Elem()
	f.add(t, nil, "")
	for i := range f.List {
		if one := &f.List[i]; one.zeroUnset {
			one.Value(f.defaults).SetZero() // the default is for configuration files only
		}
	}
	known, _ := declarations.LoadOrStore(t, f)
	return known.(*Fields)
}

// add appends the fields of t. index is the path of the embedded struct t in the object; block is the prefix of its
// keys in the configuration file.
func (f *Fields) add(t reflect.Type, index []int, block string) {
	for i := range t.NumField() {
		s := t.Field(i)
		at := append(append([]int(nil), index...), i)
		key := s.Tag.Get("key")
		if key != "" {
			key = block + key
		}
		if s.Anonymous {
			if key != "" {
				key += "."
			}
			f.add(s.Type, at, key)
			continue
		}
		name, _, _ := strings.Cut(s.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		one := Field{JSON: name, Key: key, Alias: s.Tag.Get("alias"), Type: s.Type, Default: s.Tag.Get("default"),
			Source: s.Tag.Get("source"), Usage: s.Tag.Get("usage"), index: at, zeroUnset: s.Tag.Get("zero") == "unset",
			replace: s.Tag.Get("merge") == "replace", always: s.Tag.Get("write") == "always",
			secret: s.Tag.Get("secret") == "true",
			bounds: settings.BoundsOf(s), Holder: t.Name(), Name: s.Name, least: s.Tag.Get("min"),
			most: s.Tag.Get("max")}
		switch {
		case isBlock(s.Type):
			one.inner = FieldsOf(s.Type)
		case s.Type.Kind() == reflect.Pointer && isBlock(s.Type.Elem()):
			one.inner, one.pointer = FieldsOf(s.Type.Elem()), true
		}
		f.byName[name] = len(f.List)
		if one.Alias != "" {
			f.byName[one.Alias] = len(f.List)
		}
		f.List = append(f.List, one)
	}
}

// isBlock reports whether a type is a struct with declared fields.
func isBlock(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("json") != "" {
			return true
		}
	}
	return false
}

// Find returns the field with a JSON name or alias, or nil.
func (f *Fields) Find(name string) *Field {
	if at, ok := f.byName[name]; ok {
		return &f.List[at]
	}
	return nil
}

// Names returns the JSON names of the fields that a source may set: "" for operators, "document" for documents.
func (f *Fields) Names(source string) (names []string) {
	for i := range f.List {
		if f.List[i].settable(source) {
			names = append(names, f.List[i].JSON)
		}
	}
	return names
}

// Accepted returns the names and aliases of the fields that a source may set.
func (f *Fields) Accepted(source string) []string {
	names := f.Names(source)
	for i := range f.List {
		if one := &f.List[i]; one.Alias != "" && one.settable(source) {
			names = append(names, one.Alias)
		}
	}
	return names
}

// settable reports whether a source may set the field.
func (f *Field) settable(source string) bool { return f.Source == "" || f.Source == source }

// Inner returns the fields of a field that is an object, or nil for a field of another type.
func (f *Field) Inner() *Fields { return f.inner }

// Bounds returns the bounds in the form of a configuration file; a missing bound is "".
func (f *Field) Bounds() (least, most string) { return f.least, f.most }

// Value returns the field's value in the struct v.
func (f *Field) Value(v reflect.Value) reflect.Value { return v.FieldByIndex(f.index) }

// object returns the struct of a field that is an object. For a nil pointer it returns a struct with defaults, which
// the caller must not change.
func (f *Field) object(value reflect.Value) reflect.Value {
	switch {
	case !f.pointer:
		return value
	case value.IsNil():
		return f.inner.defaults
	}
	return value.Elem()
}
