package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonReader reads a JSON text into nodes with lines and columns. It is meant for long lists that programs write: it
// takes a tenth of the time and memory of the YAML library.
type jsonReader struct {
	text    string
	decoder *json.Decoder
	offset  int               // octets of text up to which line and begin count
	line    int32             // of offset
	begin   int               // offset of that line's first octet
	keys    map[string]string // each key once: long lists repeat a few
	stack   []node            // children of the collections that are being read
	nodes   int
}

// parseJSON reads a JSON text. Problems come without File.
func parseJSON(text string) (node, Problems) {
	if !utf8.ValidString(text) {
		const remedy = "not valid JSON: this line is not text in UTF-8: save the file as UTF-8"
		return node{}, Problems{{Line: invalidLine(text), Message: remedy}}
	}
	r := &jsonReader{text: text, decoder: json.NewDecoder(strings.NewReader(text)), line: 1, keys: map[string]string{}}
	r.decoder.UseNumber()
	root, err := r.value(0)
	if err == nil {
		if _, err = r.decoder.Token(); errors.Is(err, io.EOF) {
			return root, nil
		}
		err = errors.New("something stands behind the last closing bracket: remove it")
	}
	at := r.next() // of the token that is wrong
	return node{}, Problems{{Line: int(at.line), Column: int(at.column), Message: jsonMessage(err)}}
}

// jsonMessage explains an error of encoding/json.
func jsonMessage(err error) string {
	switch _, syntax := errors.AsType[*json.SyntaxError](err); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "not valid JSON: the file ends before its last bracket or quote is closed"
	case syntax:
		return "not valid JSON: " + err.Error()
	}
	return err.Error()
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

// value reads the next value.
func (r *jsonReader) value(depth int) (node, error) {
	at := r.next()
	token, err := r.decoder.Token()
	if err != nil {
		return node{}, err
	}
	if r.nodes++; r.nodes > maxNodes {
		return node{}, fmt.Errorf("more than %d values", maxNodes)
	}
	n := node{at: at, keyAt: at}
	switch token := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			return node{}, fmt.Errorf("nested more than %d deep", maxDepth)
		}
		n.kind = sequence
		if token == '{' {
			n.kind = mapping
		}
		n.children, err = r.collection(n.kind, depth)
	case string:
		n.kind, n.text = quotedScalar, token
	case json.Number:
		n.text = token.String()
	case bool:
		n.text = fmt.Sprint(token)
	}
	return n, err
}

// collection reads a list or map up to its closing bracket.
func (r *jsonReader) collection(k kind, depth int) ([]node, error) {
	first := len(r.stack)
	for r.decoder.More() {
		var key string
		keyAt := r.next()
		if k == mapping {
			token, err := r.decoder.Token()
			if err != nil {
				return nil, err
			}
			key = r.intern(token.(string))
		}
		n, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.key, n.keyAt = key, keyAt
		r.stack = append(r.stack, n)
	}
	children := slices.Clone(r.stack[first:])
	clear(r.stack[first:])
	r.stack = r.stack[:first]
	_, err := r.decoder.Token()
	return children, err
}

// intern returns the first copy of a key, so that repeated keys share memory.
func (r *jsonReader) intern(key string) string {
	known, ok := r.keys[key]
	if !ok {
		known = key
		r.keys[key] = key
	}
	return known
}

// next returns the position of the next token.
func (r *jsonReader) next() mark {
	offset := max(r.offset, int(r.decoder.InputOffset()))
	for offset < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[offset]) >= 0 {
		offset++
	}
	passed := r.text[r.offset:offset]
	if breaks := strings.Count(passed, "\n"); breaks > 0 {
		r.line += int32(breaks)
		r.begin = r.offset + strings.LastIndexByte(passed, '\n') + 1
	}
	r.offset = offset
	return mark{r.line, int32(offset - r.begin + 1)}
}
