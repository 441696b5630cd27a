package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth is the maximum nesting of arrays and objects in a body, twice the depth of API requests.
const maxDepth = 16

// checkJSON rejects ambiguous JSON that encoding/json accepts. Its time is proportional to the length of the body, and
// its memory is almost constant.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("it is not UTF-8")
	}
	if nesting(body) > maxDepth {
		return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	if err := json.Unmarshal(body, &anyJSON{}); err != nil {
		switch text := err.Error(); {
		case text == "unexpected end of JSON input":
			return errors.New("it ends in the middle")
		case strings.Contains(text, "after top-level value"):
			return errors.New("more follows the first value")
		}
		return err
	}
	if name, repeated := repeatedName(body); repeated {
		return fmt.Errorf("the field %.64q stands twice", name)
	}
	return nil
}

// anyJSON accepts any JSON value and discards it.
type anyJSON struct{}

func (*anyJSON) UnmarshalJSON([]byte) error { return nil }

// afterString returns the index after the string that begins at a quote, at most len(body).
func afterString(body []byte, quote int) int {
	for i := quote + 1; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(body)
}

// nesting returns how deep arrays and objects are nested in a text, which need not be JSON.
func nesting(body []byte) (deepest int) {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = afterString(body, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// openValue is an array or an object that has begun and has not ended yet.
type openValue struct {
	object bool
	name   bool     // the next string is the name of a field
	names  [][]byte // of its fields until now
}

// repeatedName returns a duplicate name in an object of a JSON text. The text must be valid and at most maxDepth deep.
func repeatedName(body []byte) (name string, repeated bool) {
	var open [maxDepth + 1]openValue // reused, so that small objects need no memory
	depth := 0
	for i := 0; i < len(body); i++ {
		at := &open[depth]
		switch body[i] {
		case '"':
			end := afterString(body, i)
			if at.name {
				at.names, at.name = append(at.names, plainName(body[i:end])), false
			}
			i = end - 1
		case '{', '[':
			depth++
			open[depth].object, open[depth].name = body[i] == '{', body[i] == '{'
			open[depth].names = open[depth].names[:0]
		case ',':
			at.name = at.object
		case '}':
			if twice := firstTwice(at.names); twice != nil {
				return string(twice), true
			}
			depth--
		case ']':
			depth--
		}
	}
	return "", false
}

// plainName decodes a JSON string.
func plainName(quoted []byte) []byte {
	if !bytes.ContainsRune(quoted, '\\') {
		return quoted[1 : len(quoted)-1]
	}
	var name string
	if err := json.Unmarshal(quoted, &name); err != nil {
		return quoted // which cannot be: the text is valid
	}
	return []byte(name)
}

// firstTwice returns a name that the list has twice, or nil. It may reorder the names.
func firstTwice(names [][]byte) []byte {
	const few = 16 // for which comparing all is faster than sorting
	if len(names) > few {
		slices.SortFunc(names, bytes.Compare)
		for i := 1; i < len(names); i++ {
			if bytes.Equal(names[i-1], names[i]) {
				return names[i]
			}
		}
		return nil
	}
	for i := range names {
		for _, before := range names[:i] {
			if bytes.Equal(before, names[i]) {
				return names[i]
			}
		}
	}
	return nil
}

// CountElements returns the number of elements in the lists of a JSON object. The text must be valid.
func CountElements(body []byte) (count int) {
	const inList = 2 // in an array, which is in an object
	depth, list, begun := 0, false, false
	for i := 0; i < len(body); i++ {
		if depth == inList && list && !begun && !bytes.ContainsRune([]byte(" \t\r\n]"), rune(body[i])) {
			begun = true
			count++
		}
		switch body[i] {
		case '"':
			i = afterString(body, i) - 1
		case '{', '[':
			if depth++; depth == inList {
				list, begun = body[i] == '[', false
			}
		case '}', ']':
			depth--
		case ',':
			if depth == inList && list {
				count++
			}
		}
	}
	return count
}
