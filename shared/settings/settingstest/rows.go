package settingstest

import (
	"encoding"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/settings"
)

// width bounds the lines of a list, in octets.
const width = 120

// row is a key of a reference.
type row struct {
	key     string
	facts   []string // type, default, bounds, effect
	meaning string
}

// String writes the row as an item of a Markdown list.
func (r row) String() string {
	head := "- `" + r.key + "`: " + strings.Join(r.facts, ", ") + "."
	return wrapped(head, "  ") + wrapped("  "+r.meaning, "  ")
}

// wrapped breaks text into lines of at most width octets. All but the first begin with indent.
func wrapped(text, indent string) string {
	var b strings.Builder
	for line := text; ; {
		at := len(line)
		if len(line) > width {
			if at = strings.LastIndexByte(line[:width+1], ' '); at <= len(indent) {
				at = len(line)
			}
		}
		b.WriteString(line[:at] + "\n")
		if at == len(line) {
			return b.String()
		}
		line = indent + line[at+1:]
	}
}

// walker generates the rows of a struct.
type walker struct {
	t        *testing.T
	comments comments
	rows     []row
	seen     map[reflect.Type]bool // blocks that several keys have
}

func rowsOf(t *testing.T, of any) []row {
	t.Helper()
	w := &walker{t: t, comments: comments{}, seen: map[reflect.Type]bool{}}
	w.walk("", "", reflect.TypeOf(of).Elem())
	return w.rows
}

// walk adds the keys of a struct. prefix is the key of the struct with a dot, effect the effect of this key; both are
// "" at the top.
func (w *walker) walk(prefix, effect string, of reflect.Type) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("key"), ",")
		if name == "" {
			continue
		}
		key, counts := prefix+name, effect
		if own := f.Tag.Get("reload"); own != "" {
			counts = own
		}
		if f.Type.Kind() == reflect.Struct && !isScalar(f.Type) {
			if isTextual(f.Type) {
				w.add(key, option, counts, of, f)
			}
			w.walk(key+".", counts, f.Type)
			continue
		}
		w.add(key, option, counts, of, f)
		w.below(key, name, counts, f.Type)
	}
}

// below adds the keys of the structs in a list, a map or behind a pointer. A block behind a pointer is listed once,
// under its own name.
func (w *walker) below(key, name, effect string, t reflect.Type) {
	prefix := key + "[]."
	switch t.Kind() {
	case reflect.Map:
		prefix = key + ".<service>."
	case reflect.Pointer:
		prefix = name + "."
		if w.seen[t] {
			return
		}
		w.seen[t] = true
	case reflect.Slice:
	default:
		return
	}
	if inner := t.Elem(); inner.Kind() == reflect.Struct && !isScalar(inner) {
		w.walk(prefix, effect, inner)
	}
}

func (w *walker) add(key, option, effect string, of reflect.Type, f reflect.StructField) {
	r := row{key: key, facts: []string{typeName(f.Type)}, meaning: w.comments.of(w.t, of, f.Name)}
	if option == "single" {
		r.facts[0] = "string or " + r.facts[0]
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		r.facts = append(r.facts, "default `"+text+"`")
	}
	least, most := f.Tag.Get("min"), f.Tag.Get("max")
	switch {
	case least != "" && most != "":
		r.facts = append(r.facts, fmt.Sprintf("from %s to %s", least, most))
	case least != "":
		r.facts = append(r.facts, "at least "+least)
	case most != "":
		r.facts = append(r.facts, "at most "+most)
	}
	if effect == string(settings.Restart) {
		r.facts = append(r.facts, "takes effect at the next start")
	}
	if strings.Contains(r.facts[0], "secret") && !strings.Contains(key, "[]") { // elements of lists have no variables
		r.meaning += " Environment: `" + settings.Variable(key) + "`."
	}
	if r.meaning == "" {
		w.t.Errorf("%s: the field %s.%s needs a comment with what it means", key, of, f.Name)
	}
	w.rows = append(w.rows, r)
}

func isScalar(t reflect.Type) bool {
	return slices.Contains([]reflect.Type{reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.Prefix]()}, t)
}

// isTextual reports whether a file may have a text instead of the keys of a struct.
func isTextual(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[settings.Secret]():
		return "secret"
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[settings.Duration]():
		return "duration"
	case reflect.TypeFor[netip.Addr]():
		return "address"
	case reflect.TypeFor[netip.Prefix]():
		return "network"
	case reflect.TypeFor[netip.AddrPort]():
		return "address:port"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Map:
		return "map to " + typeName(t.Elem())
	case reflect.Struct:
		if isTextual(t) {
			return "string or keys"
		}
		return "keys"
	case reflect.Uint16:
		return "port"
	case reflect.Float64:
		return "number"
	}
	return t.Kind().String()
}
