package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"gslb.internal/shared/settings"
)

// Patch is a JSON merge patch (RFC 7396) of an object of type T: values by field name. null resets a field to its
// default. Other fields are unchanged. A value is a json.RawMessage after decoding; a client
// may use any value that encodes to JSON.
type Patch[T any] map[string]any

// UnmarshalJSON stores each value as json.RawMessage. Apply decodes the values.
func (p *Patch[T]) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if *p = nil; fields != nil {
		*p = make(Patch[T], len(fields))
	}
	for name, value := range fields {
		(*p)[name] = value
	}
	return nil
}

// Declared returns the declared fields of the objects that the patch changes.
func (p Patch[T]) Declared() *Fields { return FieldsOf(reflect.TypeFor[T]()) }

// Sources of a patch. The source decides which fields a patch may set.
const (
	FromOperator = ""         // a request about an object
	FromDocument = "document" // a document, which also sets the owner
	fromStore    = "store"    // the store or another node: all fields, and fields of later versions
)

// Apply changes object by the patch and returns the problems of single fields: unknown names, wrong types, values out
// of their bounds. Keys of problems are JSON names. With problems, object is unchanged.
func (p Patch[T]) Apply(object *T, source string) settings.Problems {
	fields, err := p.raw()
	if err != nil {
		return settings.Problems{{Message: err.Error()}}
	}
	a := applier{source: source}
	changed := *object
	a.apply(FieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(&changed).Elem(), fields, "")
	if len(a.problems) == 0 {
		*object = changed
	}
	return a.problems
}

// Problems returns the problems that Apply reports for an object with default values.
func (p Patch[T]) Problems(source string) settings.Problems { return p.Apply(New[T](), source) }

// Lay applies the values of a stored overlay to object. It ignores the fields of later versions and does not check
// bounds.
func (p Patch[T]) Lay(object *T) settings.Problems { return p.Apply(object, fromStore) }

// Bounds returns a problem for each value of an object that is out of its bounds. Keys of problems are JSON names.
func Bounds[T any](object *T) (found settings.Problems) {
	outside(FieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(object).Elem(), "", &found)
	return found
}

// outside adds to found a problem for each value of the struct v that is out of its bounds.
func outside(all *Fields, v reflect.Value, prefix string, found *settings.Problems) {
	for i := range all.List {
		f := &all.List[i]
		value := f.Value(v)
		if f.inner != nil {
			outside(f.inner, f.object(value), prefix+f.JSON+".", found)
			continue
		}
		if f.bounds == nil || f.zeroUnset && value.IsZero() {
			continue
		}
		if remedy := f.remedy(value); remedy != "" {
			shown := fmt.Sprint(reflect.Indirect(value))
			if f.secret {
				shown = ""
			}
			*found = append(*found, settings.Problem{Key: prefix + f.JSON, Value: shown, Message: remedy})
		}
	}
}

// Has reports whether the patch sets a field, by its name or its alias.
func (p Patch[T]) Has(name string) bool {
	if _, there := p[name]; there {
		return true
	}
	f := FieldsOf(reflect.TypeFor[T]()).Find(name)
	if f == nil || f.Alias == "" {
		return false
	}
	_, byName := p[f.JSON]
	_, byAlias := p[f.Alias]
	return byName || byAlias
}

// Text returns the value of a string field, or "" if the patch does not set it.
func (p Patch[T]) Text(name string) (text string) {
	_ = p.Read(name, &text)
	return text
}

// Number returns the value of a whole number, or 0 if the patch does not set it.
func (p Patch[T]) Number(name string) (n int) {
	_ = p.Read(name, &n)
	return n
}

// Texts returns the value of a field that is a list of strings, or nil if the patch does not set it.
func (p Patch[T]) Texts(name string) (list []string) {
	_ = p.Read(name, &list)
	return list
}

// Read decodes the value of a field. It does not change into if the patch does not name the field.
func (p Patch[T]) Read(name string, into any) error {
	value, there := p[name]
	if !there {
		return nil
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, into)
}

// Merge returns the patch that results from merging a later patch into p (RFC 7396), without null members: the values
// of an overlay. It replaces aliases by the names of their fields.
func (p Patch[T]) Merge(later Patch[T]) (Patch[T], error) {
	a, err := p.raw()
	if err != nil {
		return nil, err
	}
	b, err := later.raw()
	if err != nil {
		return nil, err
	}
	all := FieldsOf(reflect.TypeFor[T]())
	a, b = resolveAliases(all, a), resolveAliases(all, b)
	for name, value := range b {
		f := all.Find(name)
		if f == nil || f.replace {
			a[name] = value
			continue
		}
		a[name] = mergeJSON(a[name], value)
	}
	merged := make(Patch[T], len(a))
	for name, value := range a {
		if string(value) != "null" {
			merged[name] = value
		}
	}
	return merged, nil
}

// Differing returns the fields of the patch with values that differ from an object. For a block that a merge patch
// merges, it returns the differing members. It returns unknown fields and values that do not decode unchanged.
func (p Patch[T]) Differing(from *T) (Patch[T], error) {
	fields, err := p.raw()
	if err != nil {
		return nil, err
	}
	differing := make(Patch[T], len(fields))
	for name, value := range differingFields(FieldsOf(reflect.TypeFor[T]()), reflect.ValueOf(from).Elem(), fields) {
		differing[name] = value
	}
	return differing, nil
}

// differingFields returns the fields of a patch that differ from the struct v.
func differingFields(all *Fields, v reflect.Value, patch map[string]json.RawMessage) map[string]json.RawMessage {
	differing := make(map[string]json.RawMessage, len(patch))
	for name, value := range patch {
		f := all.Find(name)
		if f == nil {
			differing[name] = value
			continue
		}
		if f.inner != nil && !f.replace {
			var members map[string]json.RawMessage
			if json.Unmarshal(value, &members) == nil && members != nil {
				members = differingFields(f.inner, f.object(f.Value(v)), members)
				encoded, err := json.Marshal(members)
				if err == nil && len(members) > 0 {
					differing[name] = encoded
				}
				continue
			}
		}
		fresh := reflect.New(f.Type)
		if json.Unmarshal(value, fresh.Interface()) != nil || !sameValue(fresh.Elem(), f.Value(v)) {
			differing[name] = value
		}
	}
	return differing
}

// resolveAliases replaces aliases by the names of their fields, in place. If both are present, the value of the name
// has precedence.
func resolveAliases(all *Fields, values map[string]json.RawMessage) map[string]json.RawMessage {
	for name, value := range values {
		if f := all.Find(name); f != nil && f.JSON != name {
			delete(values, name)
			if values[f.JSON] == nil {
				values[f.JSON] = value
			}
		}
	}
	return values
}

// mergeJSON returns the result of merging a patch into a JSON value (RFC 7396), without null members.
func mergeJSON(value, patch json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(patch, &members) != nil || members == nil {
		return patch
	}
	var merged map[string]json.RawMessage
	if json.Unmarshal(value, &merged) != nil || merged == nil {
		merged = map[string]json.RawMessage{}
	}
	for name, member := range members {
		if string(member) == "null" {
			delete(merged, name)
			continue
		}
		merged[name] = mergeJSON(merged[name], member)
	}
	if len(merged) == 0 {
		return json.RawMessage("null")
	}
	encoded, err := json.Marshal(merged)
	if err != nil {
		return patch
	}
	return encoded
}

// raw returns the values as JSON.
func (p Patch[T]) raw() (map[string]json.RawMessage, error) {
	fields := make(map[string]json.RawMessage, len(p))
	for name, value := range p {
		if raw, decoded := value.(json.RawMessage); decoded {
			fields[name] = raw
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encoding the field %s: %w", name, err)
		}
		fields[name] = encoded
	}
	return fields, nil
}

// applier collects the problems of a patch.
type applier struct {
	source   string
	problems settings.Problems
}

// add adds a problem of a key. It shortens a long value.
func (a *applier) add(key string, value []byte, format string, args ...any) {
	const shown, maxShownKey = 64, 256 // octets of a value and of a name in a message
	if len(value) > shown {
		value = append(bytes.Clone(value[:shown]), "..."...)
	}
	if len(key) > maxShownKey {
		key = key[:maxShownKey] + "..."
	}
	a.problems = append(a.problems, settings.Problem{Key: key, Value: string(value),
		Message: fmt.Sprintf(format, args...)})
}

// apply sets the fields of the struct v. prefix is the name of the block with a dot, or "" for a whole object.
func (a *applier) apply(all *Fields, v reflect.Value, patch map[string]json.RawMessage, prefix string) {
	for _, name := range slices.Sorted(maps.Keys(patch)) { // for a stable order of problems
		f := all.Find(name)
		switch {
		case f == nil || !f.settable(a.source) && a.source != fromStore:
			if a.source != fromStore {
				a.add(prefix+name, nil, "unknown field: known are %s", strings.Join(all.Names(a.source), ", "))
			}
			continue
		case name == f.Alias && patch[f.JSON] != nil:
			if a.source != fromStore {
				a.add(prefix+name, nil, "is the same field as %s: give one of them", f.JSON)
			}
			continue
		}
		a.setField(f, f.Value(v), f.Value(all.defaults), patch[name], prefix+name)
	}
}

// setField sets one field to a JSON value; null sets the default, which is standard.
func (a *applier) setField(f *Field, v, standard reflect.Value, value json.RawMessage, key string) {
	if string(value) == "null" {
		v.Set(standard)
		return
	}
	if f.inner != nil {
		var patch map[string]json.RawMessage
		if err := json.Unmarshal(value, &patch); err != nil {
			a.add(key, nil, "give an object with %s", strings.Join(f.inner.Names(a.source), ", "))
			return
		}
		object := reflect.New(f.inner.Type).Elem() // a copy, since another object may have the same pointer
		if object.Set(f.object(v)); f.replace {
			object.Set(f.inner.defaults)
		}
		a.apply(f.inner, object, patch, key+".")
		if f.pointer {
			object = object.Addr()
		}
		v.Set(object)
		return
	}
	if f.Type == reflect.TypeFor[map[string]string]() {
		a.mergeTexts(v, value, key)
		return
	}
	fresh, shown := reflect.New(f.Type), value
	if f.secret {
		shown = nil
	}
	if err := decodeValue(value, fresh.Interface()); err != nil {
		a.add(key, shown, "%s", a.typeRemedy(f, err))
		return
	}
	if a.source != fromStore {
		if remedy := f.remedy(fresh.Elem()); remedy != "" {
			a.add(key, shown, "%s", remedy)
			return
		}
	}
	if v.Set(fresh.Elem()); v.Kind() == reflect.Slice && v.Len() == 0 {
		v.SetZero() // an empty list has the same meaning as no list
	}
}

// decodeValue decodes the value of a field. It accepts an address in brackets, rejects a zone, which is valid on a
// single machine only, and converts an IPv4-mapped address to IPv4.
func decodeValue(value json.RawMessage, into any) error {
	at, isAddress := into.(*netip.Addr)
	if !isAddress {
		return json.Unmarshal(value, into)
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil || text == "" {
		return err
	}
	bare, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		bare = strings.TrimSuffix(bare, "]")
	}
	parsed, err := netip.ParseAddr(bare)
	if err == nil && (parsed.Zone() != "" || bracketed && parsed.Is4()) {
		err = errors.New("not an address")
	}
	*at = parsed.Unmap()
	return err
}

// mergeTexts sets a field that is an object of strings; null removes a member. Problems contain no value, because the
// value can be a secret, such as a header.
func (a *applier) mergeTexts(v reflect.Value, value json.RawMessage, key string) {
	var patch map[string]json.RawMessage
	if err := json.Unmarshal(value, &patch); err != nil {
		a.add(key, nil, "give an object of strings")
		return
	}
	merged := maps.Clone(v.Interface().(map[string]string))
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		var text *string
		if err := json.Unmarshal(patch[name], &text); err != nil {
			a.add(key+"."+name, nil, "use a string")
			return
		}
		switch {
		case text == nil:
			delete(merged, name)
		case merged == nil:
			merged = map[string]string{name: *text}
		default:
			merged[name] = *text
		}
	}
	if len(merged) == 0 {
		merged = nil
	}
	v.Set(reflect.ValueOf(merged))
}

// remedy returns the correction of a value that is out of its bounds, or "" for a valid value.
func (f *Field) remedy(v reflect.Value) string {
	if f.zeroUnset && v.IsZero() {
		return "give a value within the bounds, or null for the default"
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if f.bounds == nil || !v.IsValid() {
		return ""
	}
	return f.bounds(v)
}

// typeRemedy returns the correction of a value with a wrong type: the type of the field.
func (a *applier) typeRemedy(f *Field, err error) string {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[netip.Addr]():
		return "give an IPv4 or IPv6 address"
	case t == reflect.TypeFor[netip.Prefix]():
		return "give a network, such as 192.0.2.0/24 or 2001:db8::/32"
	case t == reflect.TypeFor[[]netip.Prefix]():
		return "give a list of networks, such as 192.0.2.0/24 or 2001:db8::/32"
	case t == reflect.TypeFor[settings.Duration]():
		return "give a duration as a string, such as \"30s\""
	case t.Kind() == reflect.String:
		return "give a string (in YAML: write it in quotes)"
	case t.Kind() == reflect.Bool:
		return "give true or false"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "give a list of strings"
	case t.Kind() == reflect.Float64:
		return "give a number"
	case t.Kind() == reflect.Uint16 && f.most != "":
		return fmt.Sprintf("give a whole number from %s to %s", f.least, f.most)
	case t.Kind() == reflect.Int || t.Kind() == reflect.Uint16:
		return "give a whole number"
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "the value has the wrong type: " + wrong.Value
	}
	return err.Error()
}
