package apidoc

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// object is a JSON object; encoding/json writes its keys in order.
type object map[string]any

// schemas collects the component schemas of a document.
type schemas struct {
	source *source
	made   object
	bounds map[string]bound // by type and JSON name, such as "ServerCreate.port"
	used   map[string]bool  // keys of bounds
}

// bound limits a number by its value, or a text by its length in characters.
type bound struct{ low, high int }

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// body adds the schema of a request body and returns a reference to it. As the body, a merge patch changes one object;
// inside another body, it is part of a document.
func (s *schemas) body(t reflect.Type, required []string) object {
	if patch, ok := reflect.Zero(t).Interface().(declared); ok {
		return s.patch(patch.Declared(), model.FromOperator)
	}
	return s.ref(t, true, required)
}

// declared is a merge patch.
type declared interface{ Declared() *model.Fields }

// ref adds the schema of a type and returns a reference to it. required lists the required fields of a request. nil
// means a response: all fields are required, except optional fields.
func (s *schemas) ref(t reflect.Type, request bool, required []string) object {
	if patch, ok := reflect.Zero(t).Interface().(declared); ok {
		return s.patch(patch.Declared(), model.FromDocument)
	}
	name := t.Name()
	if request && s.made[name] != nil && !isRequest(s.made[name]) {
		name += "Body"
	}
	if request && required == nil && requiredOf(s.made[name]) != nil {
		name += "Patch" // a PATCH body, without required fields
	}
	if s.made[name] == nil {
		s.made[name] = object{} // a type may contain itself
		made := s.structure(t, request, required)
		s.made[name] = made
	} else if request && !slices.Equal(requiredOf(s.made[name]), required) {
		panic(fmt.Sprintf("apidoc: %s is a body with different required fields: give it once without", name))
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// patch adds the schema of a merge patch from a source and returns a reference to it. Every field is optional. The
// value null resets a field to its default.
func (s *schemas) patch(fields *model.Fields, from string) object {
	name := fields.Type.Name() + "Change"
	if from == model.FromDocument {
		name = "Document" + fields.Type.Name()
	}
	if s.made[name] != nil {
		return object{"$ref": "#/components/schemas/" + name}
	}
	s.made[name] = object{"type": "object", "additionalProperties": false, "properties": s.patchFields(fields, from),
		"description": "A merge patch (RFC 7396): an omitted field keeps its value, and null resets a field to its default."}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) patchFields(fields *model.Fields, from string) object {
	properties := object{}
	for i := range fields.List {
		f := &fields.List[i]
		if f.Source != model.FromOperator && f.Source != from {
			continue
		}
		var p object
		if inner := f.Inner(); inner != nil {
			p = object{"type": []string{"object", "null"}, "additionalProperties": false,
				"properties": s.patchFields(inner, from)}
		} else {
			t := f.Type
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			p = orNull(s.value(t, true))
		}
		if text := s.source.fields[f.Holder][f.Name]; text != "" {
			p["description"] = text
		}
		least, most := f.Bounds()
		for name, text := range map[string]string{"minimum": least, "maximum": most} {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				p[name] = n
			}
		}
		properties[f.JSON] = p
		if f.Alias != "" {
			properties[f.Alias] = object{"description": "The same field as " + f.JSON + ".", "type": p["type"]}
		}
	}
	return properties
}

func isRequest(made any) bool {
	o, _ := made.(object)
	return o["additionalProperties"] == false
}

func requiredOf(made any) []string {
	o, _ := made.(object)
	list, _ := o["required"].([]string)
	return list
}

func (s *schemas) structure(t reflect.Type, request bool, required []string) object {
	properties := object{}
	var always []string
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		if properties[name] != nil && len(f.Index) > 1 {
			continue // field of an embedded struct, hidden by a previous field
		}
		p := s.value(f.Type, request)
		if text := s.source.fields[holder(t, f)][f.Name]; text != "" {
			p["description"] = text
		}
		key := t.Name() + "." + name
		if b, bounded := s.bounds[key]; bounded {
			s.used[key] = true
			b.apply(p)
		}
		properties[name] = p
		if option == "" {
			always = append(always, name)
		}
	}
	made := object{"type": "object", "properties": properties}
	if text := s.source.types[t.Name()]; text != "" {
		made["description"] = text
	}
	if request {
		made["additionalProperties"] = false
		always = required
	}
	if len(always) > 0 {
		made["required"] = always
	}
	return made
}

// holder returns the name of the struct type that declares a field, which may be embedded in t.
func holder(t reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t.Name()
}

// value returns the schema of a field, an element or a whole body.
func (s *schemas) value(t reflect.Type, request bool) object {
	switch t {
	case timeType:
		return object{"type": "string", "format": "date-time"}
	case rawType:
		return object{}
	case reflect.TypeFor[settings.Duration](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.Prefix]():
		return object{"type": "string"}
	case reflect.TypeFor[model.Failback]():
		return object{"oneOf": []any{
			object{"type": "string", "description": "automatic, manual, or a duration such as 10m0s"},
			object{"type": "object", "description": "after: a duration such as 10m0s", "maxProperties": 1,
				"additionalProperties": object{"type": "string"}}}}
	}
	if _, isPatch := reflect.Zero(t).Interface().(interface{ Declared() *model.Fields }); isPatch {
		return s.ref(t, request, nil)
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.value(t.Elem(), request)
		if request {
			return inner // optional, but never null
		}
		return orNull(inner)
	case reflect.Struct:
		return s.ref(t, request, nil)
	case reflect.Slice:
		return object{"type": "array", "items": s.value(t.Elem(), request)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.value(t.Elem(), request)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return object{"type": "integer"}
	case reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		return object{"type": "integer", "minimum": 0}
	case reflect.String:
		if words := s.source.words[t.Name()]; len(words) > 0 && t.PkgPath() != "" {
			return object{"type": "string", "enum": words}
		}
		return object{"type": "string"}
	case reflect.Interface:
		return object{}
	}
	panic(fmt.Sprintf("apidoc: %s has no form in JSON", t))
}

// orNull returns a schema that also allows null.
func orNull(o object) object {
	kind, plain := o["type"].(string)
	if !plain {
		return object{"oneOf": []any{o, object{"type": "null"}}}
	}
	o["type"] = []string{kind, "null"}
	if words, closed := o["enum"].([]string); closed {
		list := make([]any, 0, len(words)+1)
		for _, word := range words {
			list = append(list, word)
		}
		o["enum"] = append(list, nil)
	}
	return o
}

func (b bound) apply(o object) {
	switch o["type"] {
	case "string":
		o["minLength"], o["maxLength"] = b.low, b.high
	default:
		o["minimum"], o["maximum"] = b.low, b.high
	}
}
