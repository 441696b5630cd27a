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
	for name, field := range fieldsOf(into) {
		inner := fields[name]
		if inner == nil || string(inner) == "null" || field.Type.Kind() != reflect.Pointer ||
			field.Type.Elem().Kind() != reflect.Struct || field.Type.Implements(reflect.TypeFor[json.Unmarshaler]()) {
			continue
		}
		if err := decodeObject(inner, reflect.New(field.Type.Elem()).Interface()); err != nil {
			return badRequest("%s: %v", name, err)
		}
	}
	return nil
}

// refuseNull refuses null for a field that is never null in answers: leaving the field out means the same.
func refuseNull(fields map[string]json.RawMessage, into any) error {
	for name, field := range fieldsOf(into) {
		shown := field.Tag.Get("json") == name &&
			(field.Type.Kind() == reflect.Pointer || field.Type == reflect.TypeFor[json.RawMessage]())
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
	for name := range fieldsOf(into) {
		names = append(names, name)
	}
	return names
}

// fieldsOf yields the fields of the struct that into points to by their JSON names, with those of embedded structs in
// their place.
func fieldsOf(into any) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.Anonymous && !yield(name, field) {
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
	for known, field := range fieldsOf(into) {
		if known == name {
			return field.Type.Kind() == reflect.Slice ||
				field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Slice
		}
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
	if err := checkValue(dec, 0); errors.Is(err, io.EOF) {
		return errors.New("it ends in the middle")
	} else if err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the first value")
	}
	return nil
}

// checkValue reads one value, which is inside so many arrays and objects.
func checkValue(dec *json.Decoder, depth int) error {
	token, err := dec.Token()
	open, nests := token.(json.Delim)
	switch {
	case err != nil || !nests:
		return err
	case depth == maxDepth:
		return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	names := map[any]bool{}
	for dec.More() {
		if open == '{' {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			if names[name] {
				return fmt.Errorf("the field %.64q stands twice", name)
			}
			names[name] = true
		}
		if err := checkValue(dec, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token() // its end
	return err
}
