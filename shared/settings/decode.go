package settings

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Defaulter is a struct in a list or behind a pointer that has defaults: it is given them before its keys are read.
type Defaulter interface{ SetDefaults() }

// decoder puts documents into a struct. Lists and maps go straight there; scalars outside them are noted as they were
// written, until it is known which source each comes from.
type decoder struct {
	report      *Report
	schema      schema
	cores       int // how many goroutines may read the elements of a long list at once
	perChunk    int // how many elements one reads before it looks for others
	document    *document
	path        path
	scalars     map[string]string // by path: what the files give
	secretFiles map[string]given  // by the secret's path: what its _file key gives
}

// given is a value and where it was written.
type given struct {
	text string
	at   Position
}

func newDecoder(report *Report, cores int) *decoder {
	return &decoder{report: report, schema: schema{}, cores: cores, perChunk: perChunk, scalars: map[string]string{}, secretFiles: map[string]given{}}
}

// decode reads one whole file into v.
func (d *decoder) decode(doc *document, v reflect.Value) {
	d.document = doc
	if len(doc.nodes) == 0 || doc.node(0).isNull() {
		return
	}
	if root := doc.node(0); root.kind != mapping {
		d.wrong(0, "", "the file must be a map of keys, found "+root.describe())
		return
	}
	d.structure(d.schema.of(v.Type()).keys, v, 0, false)
}

// wrong notes a problem with the current key at node i.
func (d *decoder) wrong(i int, value, message string) {
	at := d.document.position(i)
	d.report.append(Problem{File: at.File, Line: at.Line, Key: d.path.String(), Value: value, Message: message})
}

// structure reads the mapping at node i into the struct v. inElement says that v is in a list or map, so that its
// scalars have no other source.
func (d *decoder) structure(keys *structure, v reflect.Value, i int, inElement bool) {
	var seen uint64
	previous := -1
	for k := i + 1; k < d.document.next(i); k = d.document.next(k + 1) {
		name := d.document.node(k).text
		d.path = append(d.path, step{name: name})
		at, known := keys.behind(previous, name)
		switch {
		case known && seen&(1<<at) != 0:
			d.twice(i, k)
		case known:
			seen |= 1 << at
			previous = at
			f := &keys.fields[at]
			d.field(f, v.FieldByIndex(f.index), k+1, inElement)
		case keys.isSecretFile(name) && !inElement:
			d.secretFile(k + 1)
		case name != includesKey || len(d.path) > 1:
			d.unknown(k, name, keys)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// twice tells that the mapping at node i has the key at node k twice.
func (d *decoder) twice(i, k int) {
	first := d.document.child(i, d.document.node(k).text) - 1
	d.wrong(k, "", fmt.Sprintf("is already set in line %d: keep one", d.document.node(first).line))
}

// unknown tells that no key has the name of the key at node k.
func (d *decoder) unknown(k int, name string, keys *structure) {
	names := keys.names()
	if len(d.path) == 1 {
		names = append(slices.Clone(names), includesKey)
	}
	message := "unknown key; here belong " + strings.Join(names, ", ")
	if near := suggest(name, names); near != "" {
		there := append(append(path(nil), d.path[:len(d.path)-1]...), step{name: near})
		message = "unknown key; did you mean " + there.String() + "?"
	}
	d.wrong(k, "", message)
}

// field reads node i into the value of a key.
func (d *decoder) field(f *field, v reflect.Value, i int, inElement bool) {
	if d.document.node(i).isNull() {
		return // a key with nothing behind it counts as left out
	}
	if f.secret && d.document.secret.Key == "" {
		d.document.secret = Problem{File: d.document.path, Line: d.document.position(i).Line, Key: d.path.String()}
	}
	switch {
	case f.shape == scalarShape && inElement:
		d.scalar(f.set, v, i)
	case f.shape == scalarShape:
		d.noteScalar(i)
	case f.shape == listShape || f.shape == mapShape:
		d.collection(f, v, i, inElement)
	default:
		d.value(f.layout, v, i, inElement)
	}
}

// noteScalar notes the scalar at node i until apply.
func (d *decoder) noteScalar(i int) {
	n := d.document.node(i)
	if !n.isScalar() {
		d.wrong(i, "", "expected a single value, found "+n.describe())
		return
	}
	key := d.path.String()
	if first, again := d.report.given[key]; again {
		d.wrong(i, "", fmt.Sprintf("is already set at %s: keep one", first))
		return
	}
	d.report.given[key] = d.document.position(i)
	d.scalars[key] = n.text
}

// collection reads a list or a map. What several files give is joined; defaults do not stay beside it.
func (d *decoder) collection(f *field, v reflect.Value, i int, inElement bool) {
	if key := d.path.String; !inElement {
		if _, again := d.report.given[key()]; !again {
			d.report.given[key()] = d.document.position(i)
			v.SetZero()
		}
	} else {
		v.SetZero()
	}
	if f.shape == mapShape {
		d.mapOf(f.element, v, i)
		return
	}
	d.listOf(f.element, v, i, f.single)
}

// listOf appends the elements of the sequence at node i to v.
func (d *decoder) listOf(l *layout, v reflect.Value, i int, single bool) {
	n := d.document.node(i)
	switch {
	case single && n.isScalar():
		d.extend(v, 1)
		d.element(l, v, v.Len()-1, i)
		return
	case n.kind != sequence:
		d.wrong(i, "", "expected a list, found "+n.describe())
		return
	}
	at, count := v.Len(), d.document.count(i)
	d.extend(v, count)
	if d.cores > 1 && count > d.perChunk {
		d.onCores(v, d.chunks(i, at, count))
		return
	}
	for k := i + 1; k < int(n.end); k = d.document.next(k) {
		d.element(l, v, at, k)
		at++
	}
}

// extend makes v longer by count zero elements.
func (d *decoder) extend(v reflect.Value, count int) {
	at := v.Len()
	v.Grow(count)
	v.SetLen(at + count)
}

// element reads node i into element at of v.
func (d *decoder) element(l *layout, v reflect.Value, at, i int) {
	element := v.Index(at)
	element.SetZero()
	d.path = append(d.path, step{index: at})
	if d.document.node(i).isNull() {
		d.wrong(i, "", "nothing stands here: write a value or remove the entry")
	} else {
		d.value(l, element, i, true)
	}
	d.path = d.path[:len(d.path)-1]
}

// mapOf adds the entries of the mapping at node i to v.
func (d *decoder) mapOf(l *layout, v reflect.Value, i int) {
	if n := d.document.node(i); n.kind != mapping {
		d.wrong(i, "", "expected a map of names to values, found "+n.describe())
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for k := i + 1; k < d.document.next(i); k = d.document.next(k + 1) {
		name := strings.Clone(d.document.node(k).text)
		d.path = append(d.path, step{name: name, quote: true})
		if v.MapIndex(reflect.ValueOf(name)).IsValid() {
			d.wrong(k, "", fmt.Sprintf("is already set at %s: keep one", d.report.Locate(d.path.String())))
		} else {
			entry := reflect.New(v.Type().Elem()).Elem()
			if !d.document.node(k + 1).isNull() {
				d.value(l, entry, k+1, true)
			}
			v.SetMapIndex(reflect.ValueOf(name), entry)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// value reads node i, which is not null, into v: a struct, a pointer to one, a list in a map, or a scalar in a list or map.
func (d *decoder) value(l *layout, v reflect.Value, i int, inElement bool) {
	switch l.shape {
	case scalarShape:
		d.scalar(l.set, v, i)
		return
	case listShape:
		d.listOf(l.element, v, i, false)
		return
	}
	if l.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if inElement && l.defaulter {
		v.Addr().Interface().(Defaulter).SetDefaults()
	}
	n := d.document.node(i)
	switch {
	case n.isScalar() && l.textual:
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.text)); err != nil {
			d.wrong(i, n.text, err.Error())
		}
	case n.kind != mapping:
		d.wrong(i, "", "expected a map of keys, found "+n.describe())
	default:
		d.structure(l.keys, v, i, inElement)
	}
}

func (d *decoder) scalar(set setter, v reflect.Value, i int) {
	n := d.document.node(i)
	if !n.isScalar() {
		d.wrong(i, "", "expected a single value, found "+n.describe())
		return
	}
	if remedy := set(v, n.text); remedy != "" {
		d.wrong(i, n.text, remedy)
	}
}

// secretFile notes the value of a _file key at node i.
func (d *decoder) secretFile(i int) {
	n := d.document.node(i)
	if n.isNull() {
		return
	}
	if !n.isScalar() {
		d.wrong(i, "", "expected the path of a file, found "+n.describe())
		return
	}
	key := strings.TrimSuffix(d.path.String(), secretFileSuffix)
	if first, again := d.secretFiles[key]; again {
		d.wrong(i, "", fmt.Sprintf("is already set at %s: keep one", first.at))
		return
	}
	d.secretFiles[key] = given{n.text, d.document.position(i)}
}
