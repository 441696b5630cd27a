package settings

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// decoder stores documents in a struct. It stores lists and maps immediately, and scalars outside them as text until
// the source of each scalar is known.
type decoder struct {
	report      *Report
	schema      schema
	document    *document
	path        path
	scalars     map[string]string // values in the files, by path
	secretFiles map[string]given  // values of _file keys, by the path of the secret
	budget      uintptr           // octets left for elements of lists
	alone       bool              // LoadText: the decoder reads no further files
}

// given is a value with its position.
type given struct {
	text string
	at   Position
}

func newDecoder(report *Report) *decoder {
	return &decoder{report: report, schema: schema{}, scalars: map[string]string{}, secretFiles: map[string]given{},
		budget: math.MaxInt}
}

// decode reads a whole file, a mapping or null, into v.
func (d *decoder) decode(doc *document, v reflect.Value) {
	d.document = doc
	d.structure(d.schema.layoutOf(v.Type()).keys, v, &doc.root, false)
}

// wrong adds a problem with the value of the current key, at node n.
func (d *decoder) wrong(n *node, value, message string) { d.wrongAt(n.at, value, message) }

// wrongAt adds a problem with the current key at a mark of the document.
func (d *decoder) wrongAt(at mark, value, message string) {
	p := Problem{Key: d.path.String(), Value: value, Message: message}
	d.report.append(p.in(d.document.position(at)))
}

// structure reads the mapping n into the struct v. inElement means that v is in a list or map, so that its scalars
// have no other source.
func (d *decoder) structure(keys *structure, v reflect.Value, n *node, inElement bool) {
	first := make([]int32, len(keys.fields)) // by field: the line of its key
	for i := range n.children {
		child := &n.children[i]
		d.path = append(d.path, step{name: child.key})
		at, known := keys.byName[child.key]
		switch {
		case known && first[at] != 0:
			d.wrongAt(child.keyAt, "", fmt.Sprintf("is already set in line %d: keep one", first[at]))
		case known:
			first[at] = child.keyAt.line
			f := &keys.fields[at]
			d.field(f, v.FieldByIndex(f.index), child, inElement)
		case keys.isSecretFile(child.key, inElement):
			d.secretFile(child)
			if inElement {
				d.elementSecret(keys, v, n, child)
			}
		case child.key != includesKey || len(d.path) > 1:
			d.unknown(child, keys)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// unknown adds a problem for an unknown key, n.
func (d *decoder) unknown(n *node, keys *structure) {
	names := keys.names()
	if len(d.path) == 1 {
		names = append(slices.Clone(names), includesKey)
	}
	message := "unknown key; here belong " + strings.Join(names, ", ")
	if near := suggest(n.key, names); near != "" {
		there := append(append(path(nil), d.path[:len(d.path)-1]...), step{name: near})
		message = "unknown key; did you mean " + there.String() + "?"
	}
	d.wrongAt(n.keyAt, "", message)
}

// field reads n into the value of a key.
func (d *decoder) field(f *field, v reflect.Value, n *node, inElement bool) {
	if n.isNull() {
		return // a key without a value is treated as omitted
	}
	if f.secret && d.document.secret.Key == "" {
		d.document.secret = Problem{Key: d.path.String()}.in(d.document.position(n.at))
	}
	switch {
	case f.shape == scalarShape && inElement:
		d.scalar(f.set, v, n)
	case f.shape == scalarShape:
		d.refuseVariable(v, n)
		d.noteScalar(n)
	case f.shape == listShape || f.shape == mapShape:
		d.collection(f, v, n, inElement)
	default:
		d.value(f.layout, v, n, inElement)
	}
}

// noteScalar stores the text of the scalar n for apply.
func (d *decoder) noteScalar(n *node) {
	if !n.isScalar() {
		d.wrong(n, "", "expected a single value, found "+n.describe())
		return
	}
	key := d.path.String()
	if first, again := d.report.given[key]; again {
		d.wrong(n, "", fmt.Sprintf("is already set at %s: keep one", first))
		return
	}
	d.report.given[key] = d.document.position(n.at)
	d.scalars[key] = n.text
}

// collection reads a list or a map. The parts of several files are joined; given values replace defaults.
func (d *decoder) collection(f *field, v reflect.Value, n *node, inElement bool) {
	if key := d.path.String; inElement {
		v.SetZero()
	} else if _, again := d.report.given[key()]; !again {
		d.report.given[key()] = d.document.position(n.at)
		v.SetZero()
	}
	if f.shape == mapShape {
		d.mapOf(f.element, v, n)
		return
	}
	d.listOf(f.element, v, n, f.single)
}

// listOf appends the elements of the sequence n to v.
func (d *decoder) listOf(l *layout, v reflect.Value, n *node, single bool) {
	elements := n.children
	switch {
	case single && n.isScalar():
		elements = []node{*n}
	case n.kind != sequence:
		d.wrong(n, "", "expected a list, found "+n.describe())
		return
	}
	size := uintptr(len(elements)) * v.Type().Elem().Size()
	if size > d.budget {
		d.wrong(n, "", fmt.Sprintf("the lists up to here take more than %d MiB of memory: write fewer entries",
			maxTextLists>>20))
		return
	}
	d.budget -= size
	at := v.Len()
	v.Grow(len(elements))
	v.SetLen(at + len(elements))
	for i := range elements {
		d.element(l, v, at+i, &elements[i])
	}
}

// element reads n into element at of v.
func (d *decoder) element(l *layout, v reflect.Value, at int, n *node) {
	element := v.Index(at)
	element.SetZero()
	d.path = append(d.path, step{index: at})
	if n.isNull() {
		d.wrong(n, "", "nothing stands here: write a value or remove the entry")
	} else {
		d.value(l, element, n, true)
	}
	d.path = d.path[:len(d.path)-1]
}

// mapOf adds the entries of the mapping n to v.
func (d *decoder) mapOf(l *layout, v reflect.Value, n *node) {
	if n.kind != mapping {
		d.wrong(n, "", "expected a map of names to values, found "+n.describe())
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for i := range n.children {
		child := &n.children[i]
		d.path = append(d.path, step{name: child.key, quote: true})
		if name := reflect.ValueOf(child.key); v.MapIndex(name).IsValid() {
			d.entryTwice(child)
		} else {
			entry := reflect.New(v.Type().Elem()).Elem()
			if !child.isNull() {
				d.value(l, entry, child, true)
			}
			v.SetMapIndex(name, entry)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// entryTwice adds a problem for a duplicate key, n, of a map.
func (d *decoder) entryTwice(n *node) {
	if d.report.full() {
		d.report.more++ // the search for the first entry is slow in large maps
		return
	}
	first := d.report.Locate(d.path.String())
	d.wrongAt(n.keyAt, "", fmt.Sprintf("is already set at %s: keep one", first))
}

// value reads n, a node that is not null, into v: a struct, a pointer to a struct, a list in a map, or a scalar in a
// list or map.
func (d *decoder) value(l *layout, v reflect.Value, n *node, inElement bool) {
	switch l.shape {
	case scalarShape:
		d.scalar(l.set, v, n)
		return
	case listShape:
		d.listOf(l.element, v, n, false)
		return
	}
	if l.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if inElement {
		v.Set(l.fresh)
	}
	switch {
	case n.isScalar() && l.textual:
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.text)); err != nil {
			d.wrong(n, n.text, err.Error())
		}
	case n.kind != mapping:
		d.wrong(n, "", "expected a map of keys, found "+n.describe())
	default:
		d.structure(l.keys, v, n, inElement)
	}
}

// scalar reads n into v, a single value in a list or map.
func (d *decoder) scalar(set setter, v reflect.Value, n *node) {
	if !n.isScalar() {
		d.wrong(n, "", "expected a single value, found "+n.describe())
		return
	}
	d.refuseVariable(v, n)
	if remedy := set(v, n.text); remedy != "" {
		d.wrong(n, n.text, remedy)
	}
}

// refuseVariable adds a problem for a secret, n, in the form of a variable such as ${TOKEN}, which the decoder does not
// expand. v is the destination of the secret.
func (d *decoder) refuseVariable(v reflect.Value, n *node) {
	if v.Type() != secretType || !strings.HasPrefix(n.text, "${") || !strings.HasSuffix(n.text, "}") {
		return
	}
	inside := func(s step) bool { return s.quote || s.name == "" } // a list or map
	end := len(d.path)
	for inside(d.path[end-1]) {
		end--
	}
	key := d.path[:end].String()
	ways := key + secretFileSuffix
	if !slices.ContainsFunc(d.path[:end], inside) {
		ways += " or the environment variable " + Variable(key)
	}
	d.wrong(n, "", "stands there as a variable, which nothing replaces: write the secret itself, or give it by "+ways)
}

// secretFile stores the value of a _file key.
func (d *decoder) secretFile(n *node) {
	if n.isNull() {
		return
	}
	if !n.isScalar() {
		d.wrong(n, "", "expected the path of a file, found "+n.describe())
		return
	}
	key := strings.TrimSuffix(d.path.String(), secretFileSuffix)
	if first, again := d.secretFiles[key]; again {
		d.wrong(n, "", fmt.Sprintf("is already set at %s: keep one", first.at))
		return
	}
	d.secretFiles[key] = given{n.text, d.document.position(n.at)}
}

// elementSecret reads the file of the _file key child of n, an element of a list or map. Secrets of elements have no
// environment variables.
func (d *decoder) elementSecret(keys *structure, v reflect.Value, n, child *node) {
	name := strings.TrimSuffix(child.key, secretFileSuffix)
	key := strings.TrimSuffix(d.path.String(), secretFileSuffix)
	from, noted := d.secretFiles[key]
	switch {
	case !noted || d.alone:
	case n.value(name) != nil:
		d.wrong(child, "", "stands beside "+name+": keep one")
	default:
		if text, source, ok := d.readSecret(key, from); ok {
			d.report.outside[key] = Position{File: source}
			v.FieldByIndex(keys.find(name).index).SetString(text)
		}
	}
}
