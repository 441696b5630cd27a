// Package manifest reads api.Documents in YAML or JSON: from a file, the files of a directory, or standard input. It
// stores the line of each object for error messages. Package cli calls it. It sends no request and validates only keys
// and types.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// Manifest is a document with the file and line of each of its objects.
type Manifest struct {
	Document api.Document
	places   map[string]place // by index, such as domains[3], and by kind and name, such as "domain a.example.com"
}

// Read reads the file at path, or the .yaml, .yml and .json files of a directory, or stdin if path is "-". It merges
// several files into one document. Unknown keys are errors.
func Read(path string, stdin io.Reader) (*Manifest, error) {
	m := &Manifest{places: map[string]place{}}
	if path == "-" {
		text, err := bounded(stdin, "standard input")
		if err != nil {
			return nil, err
		}
		return m, m.add("standard input", text)
	}
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := m.read(file); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// OwnedBy returns the objects of an owner in a document. The result has no settings, because settings have no owner.
func OwnedBy(doc api.Document, owner string) (owned api.Document) {
	for field := range reflect.TypeFor[api.Document]().Fields() {
		list, kept := reflect.ValueOf(doc).FieldByIndex(field.Index), reflect.ValueOf(&owned).Elem().FieldByIndex(field.Index)
		for i := range list.Len() {
			if ownerOf(list.Index(i).Interface()) == owner {
				kept.Set(reflect.Append(kept, list.Index(i)))
			}
		}
	}
	return owned
}

// ownerOf returns the owner of an object of a document, "" without an owner.
func ownerOf(object any) string {
	switch o := object.(type) {
	case patch:
		return o.Text("owner")
	case api.DocumentAgent:
		return o.Owner
	}
	return ""
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) && !e.IsDir() {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no .yaml, .yml or .json file", path)
	}
	return files, nil
}

func (m *Manifest) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := bounded(f, path)
	if err != nil {
		return err
	}
	return m.add(path, text)
}

// bounded reads r completely. It returns an error for more than api.MaxDocument octets.
func bounded(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, api.MaxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case len(text) > api.MaxDocument:
		return nil, fmt.Errorf(
			"%s is larger than %d MiB, which is the most: apply it in several documents with an owner each",
			name,
			api.MaxDocument>>20,
		)
	}
	return text, nil
}

// add adds the objects of a text. The text may contain several YAML documents.
func (m *Manifest) add(name string, text []byte) error {
	if strings.HasSuffix(name, ".json") {
		text = jsonOnly.ReplaceAllFunc(text, unescape)
	}
	decoder := settings.NewDecoder(string(text))
	found := false
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			if !found {
				return fmt.Errorf("%s is empty: it must have one of %s", name, documentKeys())
			}
			return nil
		}
		if err != nil {
			return positioned(name, err)
		}
		found = true
		datesAreTexts(&doc)
		if err := m.addDocument(name, doc.Content[0]); err != nil {
			return err
		}
	}
}

// positioned returns the first problem of an error of the decoder with its file.
func positioned(name string, err error) error {
	if problems, ok := errors.AsType[settings.Problems](err); ok {
		problems[0].File = name
		return problems[:1]
	}
	return fmt.Errorf("%s: %w", name, err)
}

// jsonOnly matches JSON escapes that the YAML library does not support: surrogate pairs and \/. It also matches escaped
// backslashes, so that the following characters are not mistaken for an escape.
var jsonOnly = regexp.MustCompile(`\\\\|\\/|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// unescape returns the character of an escape. It returns an escaped backslash unchanged.
func unescape(escape []byte) []byte {
	var text string
	if string(escape) == `\\` || json.Unmarshal([]byte(`"`+string(escape)+`"`), &text) != nil {
		return escape
	}
	return []byte(text)
}

// datesAreTexts makes texts that look like dates strings, because no field of a document is a date.
func datesAreTexts(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		datesAreTexts(child)
	}
}

func documentKeys() string { return strings.Join(KeysOf(reflect.TypeFor[api.Document]()), ", ") }

// addDocument adds the lists of a YAML document.
func (m *Manifest) addDocument(name string, top *yaml.Node) error {
	if top.Kind != yaml.MappingNode {
		return wrong(name, top, "it must have one of the keys %s", documentKeys())
	}
	if err := refuseUnknown(name, top, reflect.TypeFor[api.Document]()); err != nil {
		return err
	}
	for i := 0; i < len(top.Content); i += 2 {
		key, list := top.Content[i], top.Content[i+1]
		if list.Tag == "!!null" {
			continue
		}
		if list.Kind != yaml.SequenceNode {
			return wrong(name, list, "%s must be a list", key.Value)
		}
		if err := m.addObjects(name, key.Value, list); err != nil {
			return err
		}
	}
	return nil
}

// patch is implemented by the objects of package model that can validate themselves.
type patch interface {
	Declared() *model.Fields
	Text(name string) string
	Problems(source string) settings.Problems
}

// addObjects decodes the elements of list, and appends them to the field of the document that key names.
func (m *Manifest) addObjects(name, key string, list *yaml.Node) error {
	into := fieldOf(&m.Document, key)
	for _, n := range list.Content {
		object := fmt.Sprintf("%s[%d]", key, into.Len())
		if n.Kind != yaml.MappingNode {
			return wrong(name, n, "%s must be an object", object)
		}
		one := reflect.New(into.Type().Elem())
		if err := refuseUnknown(name, n, one.Type().Elem()); err != nil {
			return err
		}
		var raw any
		if err := n.Decode(&raw); err != nil {
			return wrong(name, n, "%s: %s", object, settings.NodeProblem(err))
		}
		text, err := json.Marshal(raw)
		if err == nil {
			err = json.Unmarshal(text, one.Interface())
		}
		if p, isPatch := one.Elem().Interface().(patch); err == nil && isPatch {
			if problems := p.Problems(model.FromDocument); len(problems) > 0 {
				first, fault := problems[0], problems[0].Key
				if first.Value != "" {
					fault += " is " + first.Value
				}
				return wrong(name, valueOf(n, first.Key), "%s: %s: %s", object, fault, first.Message)
			}
		}
		if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			field := strings.TrimPrefix(mistyped.Field, embedded(one.Type().Elem()))
			return wrong(name, valueOf(n, field), "%s: %s is a %s: it must be %s", object, field, mistyped.Value,
				typeName(mistyped.Type))
		}
		if err != nil {
			return wrong(name, n, "%s: %v", object, err)
		}
		m.remember(key, into.Len(), name, n)
		into.Set(reflect.Append(into, one.Elem()))
	}
	return nil
}

// fieldOf returns the list field of a document whose JSON name is key. The field must exist.
func fieldOf(doc *api.Document, key string) reflect.Value {
	v := reflect.ValueOf(doc).Elem()
	for field := range v.Type().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == key {
			return v.FieldByIndex(field.Index)
		}
	}
	panic("a document has no list " + key)
}

// embedded returns the name of the embedded struct and a dot, which encoding/json adds before field names in errors. It
// returns "" if there is no embedded struct.
func embedded(t reflect.Type) string {
	for field := range t.Fields() {
		if field.Anonymous {
			return field.Name + "."
		}
	}
	return ""
}

// refuseUnknown returns an error for the first unknown key of n or of a nested object. t is the struct type with the
// known keys.
func refuseUnknown(name string, n *yaml.Node, t reflect.Type) error {
	if p, isPatch := reflect.Zero(t).Interface().(patch); isPatch {
		return refuseUndeclared(name, n, p.Declared())
	}
	known := KeysOf(t)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !slices.Contains(known, key.Value) {
			return wrong(name, key, "unknown key %q: known are %s", key.Value, strings.Join(known, ", "))
		}
		if inner := fieldType(t, key.Value); inner.Kind() == reflect.Struct && value.Kind == yaml.MappingNode {
			if err := refuseUnknown(name, value, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseUndeclared returns an error for the first undeclared key of n or of a nested object.
func refuseUndeclared(name string, n *yaml.Node, fields *model.Fields) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := fields.Find(key.Value)
		if known := fields.Accepted(model.FromDocument); f == nil || !slices.Contains(known, key.Value) {
			return wrong(name, key, "unknown key %q: known are %s", key.Value, strings.Join(known, ", "))
		}
		if inner := f.Inner(); inner != nil && value.Kind == yaml.MappingNode {
			if err := refuseUndeclared(name, value, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// KeysOf lists the JSON names of a struct's fields, with the fields of embedded structs.
func KeysOf(t reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// fieldType returns the type of the field with a JSON name, without pointers, or t for an unknown name.
func fieldType(t reflect.Type, key string) reflect.Type {
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == key {
			if field.Type.Kind() == reflect.Pointer {
				return field.Type.Elem()
			}
			return field.Type
		}
	}
	return t
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text: write it in quotes"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
