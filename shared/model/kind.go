package model

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"gslb.internal/shared/settings"
)

// Object is a pointer to an object of a declared kind, such as *Domain. Methods of a Kind that take an Object require
// an object of that kind.
type Object interface {
	// Key returns the name of the object, which is unique among the objects of its kind. References and replication use
	// the key.
	Key() string
	meta() *Meta
}

// object is the type constraint of a pointer to T that is an Object.
type object[T any] interface {
	*T
	Object
}

// Reference is the name of another object in a field of an object.
type Reference struct {
	Field string // JSON name of the field
	Kind  string // of the other object
	Key   string // of the other object
}

// Kind declares a kind of objects. Functions of a Kind do not know other objects and the node: the node makes the
// checks that need them.
type Kind struct {
	Name       string  // in replication, documents and the audit log
	Fields     *Fields // declared fields
	validate   func(Object) settings.Problems
	references func(Object) []Reference
	create     func() Object
	decode     func([]byte) (Object, error)
	encode     func(Object) ([]byte, error)
}

// Names of kinds.
const (
	KindDomain  = "domain"
	KindRegion  = "region"
	KindMapping = "mapping"
)

// Kinds returns the declared kinds. The kinds that a kind refers to come before it.
func Kinds() []*Kind { return slices.Clone(kinds()) }

var kinds = sync.OnceValue(func() []*Kind {
	return []*Kind{
		declare(KindRegion, (*Region).Problems, nil),
		declare(KindDomain, (*Domain).RecordProblems, (*Domain).references),
		declare(KindMapping, (*Mapping).Problems, (*Mapping).references),
	}
})

// KindNamed returns the kind with a name, or nil.
func KindNamed(name string) *Kind {
	for _, k := range kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// KindOf returns the kind of an object.
func KindOf(o Object) *Kind {
	for _, k := range kinds() {
		if k.Fields.Type == reflect.TypeOf(o).Elem() {
			return k
		}
	}
	panic(fmt.Sprintf("%T is of no declared kind", o)) // a fault of the program
}

// declare returns the kind of the objects of type T. validate returns the problems of an object beyond the bounds of
// its fields; references returns the names of other objects; both are optional.
func declare[T any, P object[T]](name string, validate func(P) settings.Problems, references func(P) []Reference) *Kind {
	k := &Kind{
		Name: name, Fields: FieldsOf(reflect.TypeFor[T]()),
		validate:   func(Object) settings.Problems { return nil },
		references: func(Object) []Reference { return nil },
		create:     func() Object { return P(New[T]()) },
		decode: func(data []byte) (Object, error) {
			o, err := Decode[T](data)
			if err != nil {
				return nil, err
			}
			return P(o), nil
		},
		encode: func(o Object) ([]byte, error) { return Encode((*T)(o.(P))) },
	}
	if validate != nil {
		k.validate = func(o Object) settings.Problems { return validate(o.(P)) }
	}
	if references != nil {
		k.references = func(o Object) []Reference { return references(o.(P)) }
	}
	return k
}

// New returns an object with the default of each field.
func (k *Kind) New() Object { return k.create() }

// Decode returns the object of a stored or replicated form, as the function Decode does.
func (k *Kind) Decode(data []byte) (Object, error) { return k.decode(data) }

// Encode returns the stored and replicated form of an object, as the function Encode does.
func (k *Kind) Encode(o Object) ([]byte, error) { return k.encode(o) }

// Validate returns the problems of an object: values out of their bounds, and the faults that one object alone shows.
func (k *Kind) Validate(o Object) settings.Problems {
	var found settings.Problems
	outside(k.Fields, reflect.ValueOf(o).Elem(), "", &found)
	return append(found, k.validate(o)...)
}

// References returns the names of other objects in the fields of an object.
func (k *Kind) References(o Object) []Reference { return k.references(o) }

// MetaOf returns the fields of an object that the node or documents set.
func MetaOf(o Object) *Meta { return o.meta() }
