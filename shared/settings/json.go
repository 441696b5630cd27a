package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonReader reads a text that is valid JSON into nodes with lines and columns. It is for long lists that programs
// write, and takes a fraction of the time and memory of the YAML library.
type jsonReader struct {
	text   string
	offset int               // of the next token
	line   int32             // of offset
	begin  int               // offset of the first octet of the line
	keys   map[string]string // interned keys: long lists repeat a few
	stack  []node            // children of the unfinished collections
	nodes  int
}

// parseJSON parses a JSON text. The problems have no File.
func parseJSON(text string) (node, Problems) {
	text = strings.TrimPrefix(text, "\ufeff") // byte order mark; parsers may ignore it (RFC 8259 section 8.1)
	if !utf8.ValidString(text) {
		const remedy = "not valid JSON: this line is not text in UTF-8: save the file as UTF-8"
		return node{}, Problems{{Line: invalidLine(text), Message: remedy}}
	}
	r := &jsonReader{text: text, line: 1, keys: map[string]string{}}
	if octets := []byte(text); !json.Valid(octets) {
		message, offset := jsonMessage(json.Unmarshal(octets, new(any)), len(text))
		at := r.moveTo(offset)
		return node{}, Problems{{Line: int(at.line), Column: int(at.column), Message: message}}
	}
	root, err := r.value(0)
	if err != nil {
		at := r.next()
		return node{}, Problems{{Line: int(at.line), Column: int(at.column), Message: err.Error()}}
	}
	return root, nil
}

// jsonMessage explains an error of encoding/json for a text of a length, and returns the offset of the mistake.
func jsonMessage(err error, length int) (message string, offset int) {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return "not valid JSON: " + err.Error(), 0
	case strings.HasPrefix(syntax.Error(), "unexpected end"):
		return "not valid JSON: the file ends before its last bracket or quote is closed", length
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return "something stands behind the last closing bracket: remove it", int(syntax.Offset) - 1
	}
	return "not valid JSON: " + syntax.Error(), int(syntax.Offset) - 1
}

// invalidLine returns the first line of a text that is not UTF-8.
func invalidLine(text string) int {
	line := 1
	for part := range strings.Lines(text) {
		if !utf8.ValidString(part) {
			break
		}
		line++
	}
	return line
}

// value reads the next value. An error is about this value.
func (r *jsonReader) value(depth int) (node, error) {
	at := r.next()
	if r.nodes++; r.nodes > maxNodes {
		return node{}, fmt.Errorf("more than %d values", maxNodes)
	}
	n := node{at: at, keyAt: at}
	var err error
	switch r.text[r.offset] {
	case '{':
		n.kind = mapping
		n.children, err = r.collection(mapping, depth)
	case '[':
		n.kind = sequence
		n.children, err = r.collection(sequence, depth)
	case '"':
		n.kind, n.text = quotedScalar, strings.Clone(r.quoted()) // a copy, so that the text can be freed
	default:
		n.text = r.text[r.offset:]
		if end := strings.IndexAny(n.text, " \t\r\n,]}"); end >= 0 {
			n.text = n.text[:end]
		}
		r.offset += len(n.text)
	}
	return n, err
}

// collection reads a list or map from its opening to its closing bracket.
func (r *jsonReader) collection(k kind, depth int) ([]node, error) {
	r.offset++
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	first := len(r.stack)
	for {
		keyAt := r.next()
		if c := r.text[r.offset]; c == ']' || c == '}' {
			break
		}
		var key string
		if k == mapping {
			key = r.intern(r.quoted())
		}
		n, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.key, n.keyAt = key, keyAt
		r.stack = append(r.stack, n)
	}
	r.offset++
	children := slices.Clone(r.stack[first:])
	clear(r.stack[first:])
	r.stack = r.stack[:first]
	return children, nil
}

// quoted reads a string.
func (r *jsonReader) quoted() (value string) {
	begin := r.offset
	for r.offset++; r.text[r.offset] != '"'; r.offset++ {
		if r.text[r.offset] == '\\' {
			r.offset++
		}
	}
	r.offset++
	raw := r.text[begin:r.offset]
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	_ = json.Unmarshal([]byte(raw), &value) // raw is valid
	return value
}

// intern returns the first copy of a key, so that repeated keys share memory.
func (r *jsonReader) intern(key string) string {
	known, ok := r.keys[key]
	if !ok {
		known = strings.Clone(key)
		r.keys[known] = known
	}
	return known
}

// next moves to the next token and returns its position.
func (r *jsonReader) next() mark {
	offset := r.offset
	for offset < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[offset]) >= 0 {
		offset++
	}
	return r.moveTo(offset)
}

// moveTo moves forward to an offset and returns its position.
func (r *jsonReader) moveTo(offset int) mark {
	passed := r.text[r.offset:offset]
	if breaks := strings.Count(passed, "\n"); breaks > 0 {
		r.line += int32(breaks)
		r.begin = r.offset + strings.LastIndexByte(passed, '\n') + 1
	}
	r.offset = offset
	return mark{r.line, int32(offset - r.begin + 1)}
}
