package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/shared/model"
)

// Decode reads a body, which must be a JSON object with only fields of the struct to which into points. Names are
// compared exactly. Decode rejects duplicate names, null and invalid UTF-8.
//
// into may also point to a model.Patch. Its fields are checked when the patch is applied; null resets a field.
func Decode(body []byte, into any) error {
	fields := FieldsOf(into)
	if err := notEmpty(body, fields); err != nil {
		return err
	}
	if err := checkJSON(body); err != nil {
		return fault.Invalidf("the body is not usable JSON: %v", err)
	}
	return DecodeChecked(body, into, fields)
}

// DecodePart is Decode for a part of a body that checkJSON has accepted.
func DecodePart(body []byte, into any) error {
	fields := FieldsOf(into)
	if err := notEmpty(body, fields); err != nil {
		return err
	}
	return DecodeChecked(body, into, fields)
}

// Members returns the members of a JSON object, a part of a body that checkJSON has accepted. Each member must be a
// field of the struct to which target points.
func Members(body []byte, target any) (members map[string]json.RawMessage, err error) {
	fields := FieldsOf(target)
	if err := notEmpty(body, fields); err != nil {
		return nil, err
	}
	err = DecodeChecked(body, &members, fields)
	return members, err
}

func notEmpty(body []byte, fields Fields) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return fault.Invalidf("the body is empty: it must be a JSON object with %s", strings.Join(fields.names(), ", "))
	}
	return nil
}

// DecodeChecked decodes JSON that checkJSON has accepted. fields are the fields of into.
func DecodeChecked(body []byte, into any, known Fields) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		if len(known) == 0 {
			return fault.Invalidf("the body is not empty, as it must be here")
		}
		return fault.Invalidf("the body must be a JSON object with %s", strings.Join(known.names(), ", "))
	}
	if _, isPatch := into.(declarer); isPatch {
		return json.Unmarshal(body, into)
	}
	if err := refuseUnknown(fields, known); err != nil {
		return err
	}
	if err := refuseNull(fields, known); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return typeProblem(err, fields, known)
	}
	return decodeInner(fields, known)
}

// decodeInner applies the rules of Decode to the objects inside an object.
func decodeInner(fields map[string]json.RawMessage, known Fields) error {
	for _, f := range known {
		inner := fields[f.name]
		if inner == nil || string(inner) == "null" || f.of.Type.Kind() != reflect.Pointer ||
			f.of.Type.Elem().Kind() != reflect.Struct || f.of.Type.Implements(reflect.TypeFor[json.Unmarshaler]()) {
			continue
		}
		if err := DecodePart(inner, reflect.New(f.of.Type.Elem()).Interface()); err != nil {
			return fault.Invalidf("%s: %v", f.name, err)
		}
	}
	return nil
}

// refuseNull rejects null for a field that is never null in answers. Clients omit the field instead.
func refuseNull(fields map[string]json.RawMessage, known Fields) error {
	for _, f := range known {
		shown := f.of.Tag.Get("json") == f.name &&
			(f.of.Type.Kind() == reflect.Pointer || f.of.Type == reflect.TypeFor[json.RawMessage]())
		if !shown && string(fields[f.name]) == "null" {
			return fault.Invalidf("%s is null: give a value, or leave it out", f.name)
		}
	}
	return nil
}

// refuseUnknown returns an error that lists the fields that are not in known, or nil.
func refuseUnknown(fields map[string]json.RawMessage, known Fields) error {
	var unknown []string
	for name := range fields {
		if !known.has(name) {
			unknown = append(unknown, fmt.Sprintf("%.64q", name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	const shown = 10
	return fault.Invalidf("the body has unknown fields: %s; known are %s",
		strings.Join(unknown[:min(len(unknown), shown)], ", "), cmp.Or(strings.Join(known.names(), ", "), "none"))
}

// Fields are the JSON fields of a struct in their order, including the fields of embedded structs.
type Fields []objectField

type objectField struct {
	name string
	of   reflect.StructField
}

// declarer is a pointer to a model.Patch.
type declarer interface{ Declared() *model.Fields }

// FieldsOf returns the fields of the struct or the model.Patch to which into points. The fields of a patch have only
// names.
func FieldsOf(into any) (list Fields) {
	if patch, isPatch := into.(declarer); isPatch {
		for _, name := range patch.Declared().Names(model.FromOperator) {
			list = append(list, objectField{name: name})
		}
		return list
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.Anonymous {
			list = append(list, objectField{name, field})
		}
	}
	return list
}

func (l Fields) names() []string {
	names := make([]string, len(l))
	for i := range l {
		names[i] = l[i].name
	}
	return names
}

func (l Fields) has(name string) bool {
	return slices.ContainsFunc(l, func(f objectField) bool { return f.name == name })
}

// typeProblem returns an error that names the field with a value of a wrong type.
func typeProblem(err error, fields map[string]json.RawMessage, known Fields) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name, _, _ := strings.Cut(wrong.Field, ".")
		subject := "it"
		if known.isList(name) && wrong.Type.Kind() != reflect.Slice {
			subject = "each element"
		}
		return fault.Invalidf("%s is %.64s: %s must be %s", wrong.Field, fields[name], subject, jsonType(wrong.Type))
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return fault.Invalidf("%.64s is not a time: it must be such as 2026-01-31T12:00:00Z", wrong.Value)
	}
	return fault.Invalidf("the body cannot be read: %v", err)
}

// isList reports whether a field is a list.
func (l Fields) isList(name string) bool {
	return slices.ContainsFunc(l, func(f objectField) bool {
		return f.name == name && (f.of.Type.Kind() == reflect.Slice ||
			f.of.Type.Kind() == reflect.Pointer && f.of.Type.Elem().Kind() == reflect.Slice)
	})
}

// jsonType returns the JSON name of a Go type.
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
