package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arrays and objects in a body: twice what any request of the API needs.
const maxDepth = 16

// decodeObject reads a body that must be one JSON object with no other fields than those of the struct that into
// points to. Names are compared exactly. Duplicate names, null and text that is not UTF-8 are refused.
func decodeObject(body []byte, into any) error {
	known := fieldNames(into)
	if len(bytes.TrimSpace(body)) == 0 {
		return badRequest("the body is empty: it must be a JSON object with %s", strings.Join(known, ", "))
	}
	if err := checkJSON(body); err != nil {
		return badRequest("the body is not usable JSON: %v", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		if len(known) == 0 {
			return badRequest("the body is not empty, as it must be here")
		}
		return badRequest("the body must be a JSON object with %s", strings.Join(known, ", "))
	}
	if err := refuseUnknown(fields, known); err != nil {
		return err
	}
	if err := refuseNull(fields, into); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return typeProblem(err, fields, into)
	}
	return decodeInner(fields, into)
}

// decodeInner applies the rules of decodeObject to the objects inside an object.
func decodeInner(fields map[string]json.RawMessage, into any) error {
	for field := range fieldsOf(reflect.TypeOf(into).Elem()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if fields[name] == nil || field.Type.Kind() != reflect.Pointer || field.Type.Elem().Kind() != reflect.Struct ||
			field.Type.Implements(reflect.TypeFor[json.Unmarshaler]()) {
			continue
		}
		if err := decodeObject(fields[name], reflect.New(field.Type.Elem()).Interface()); err != nil {
			return badRequest("%s: %v", name, err)
		}
	}
	return nil
}

// refuseNull refuses null for a field that is never null in answers: leaving the field out means the same.
func refuseNull(fields map[string]json.RawMessage, into any) error {
	for field := range fieldsOf(reflect.TypeOf(into).Elem()) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		shown := options == "" && (field.Type.Kind() == reflect.Pointer || field.Type == reflect.TypeFor[json.RawMessage]())
		if !shown && string(fields[name]) == "null" {
			return badRequest("%s is null: give a value, or leave it out", name)
		}
	}
	return nil
}

func refuseUnknown(fields map[string]json.RawMessage, known []string) error {
	var unknown []string
	for name := range fields {
		if !slices.Contains(known, name) {
			unknown = append(unknown, fmt.Sprintf("%.64q", name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	const shown = 10
	return badRequest("the body has unknown fields: %s; known are %s",
		strings.Join(unknown[:min(len(unknown), shown)], ", "), cmp.Or(strings.Join(known, ", "), "none"))
}

// fieldNames lists the JSON names of a struct in the order of its fields.
func fieldNames(into any) []string {
	var names []string
	for field := range fieldsOf(reflect.TypeOf(into).Elem()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// fieldsOf yields the fields of a struct, with those of embedded structs in their place.
func fieldsOf(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for _, field := range reflect.VisibleFields(t) {
			if !field.Anonymous && !yield(field) {
				return
			}
		}
	}
}

// typeProblem returns an error that names the field whose value has the wrong type.
func typeProblem(err error, fields map[string]json.RawMessage, into any) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name, _, _ := strings.Cut(wrong.Field, ".")
		subject := "it"
		if isList(into, name) && wrong.Type.Kind() != reflect.Slice {
			subject = "each element"
		}
		return badRequest("%s is %.64s: %s must be %s", wrong.Field, fields[name], subject, jsonType(wrong.Type))
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return badRequest("%.64s is not a time: it must be such as 2026-01-31T12:00:00Z", wrong.Value)
	}
	return badRequest("the body cannot be read: %v", err)
}

// isList reports whether a field of a struct is a list.
func isList(into any, name string) bool {
	for field := range fieldsOf(reflect.TypeOf(into).Elem()) {
		if given, _, _ := strings.Cut(field.Tag.Get("json"), ","); given != name {
			continue
		}
		if field.Type.Kind() == reflect.Pointer {
			return field.Type.Elem().Kind() == reflect.Slice
		}
		return field.Type.Kind() == reflect.Slice
	}
	return false
}

// jsonType returns the name of a Go type for people who write JSON.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number below 1.8e308"
	default:
		return "a whole number of at most 64 bits, without point and exponent"
	}
}

// checkJSON refuses JSON that encoding/json accepts although two readers could understand it differently.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var open nesting
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return open.finish()
		}
		if err != nil {
			return err
		}
		if err := open.take(token); err != nil {
			return err
		}
	}
}

// nesting holds the arrays and objects that are open at a token. An array is a nil map; an object holds the names that
// it has had so far.
type nesting struct {
	levels    []map[string]bool
	nameTaken bool // the next token of the innermost object is a value
	values    int  // complete values at the top
}

func (n *nesting) take(token json.Token) error {
	if delim, ok := token.(json.Delim); ok {
		return n.delim(delim)
	}
	if n.inObject() && !n.nameTaken {
		name, _ := token.(string)
		seen := n.levels[len(n.levels)-1]
		if seen[name] {
			return fmt.Errorf("the field %.64q stands twice", name)
		}
		seen[name] = true
		n.nameTaken = true
		return nil
	}
	n.valueEnded()
	return nil
}

func (n *nesting) delim(delim json.Delim) error {
	switch delim {
	case '{', '[':
		if len(n.levels) == maxDepth {
			return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
		var names map[string]bool
		if delim == '{' {
			names = make(map[string]bool)
		}
		n.levels = append(n.levels, names)
		n.nameTaken = false
	default:
		n.levels = n.levels[:len(n.levels)-1]
		n.valueEnded()
	}
	return nil
}

func (n *nesting) valueEnded() {
	n.nameTaken = false
	if len(n.levels) == 0 {
		n.values++
	}
}

func (n *nesting) inObject() bool {
	return len(n.levels) > 0 && n.levels[len(n.levels)-1] != nil
}

func (n *nesting) finish() error {
	switch {
	case len(n.levels) > 0:
		return errors.New("it ends in the middle")
	case n.values != 1:
		return errors.New("more follows the first value")
	}
	return nil
}
