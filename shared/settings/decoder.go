package settings

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decoder decodes the documents of a YAML text into values of other packages. Keys without a field are errors. The
// fields of the values have tags of the YAML library.
type Decoder struct {
	lines *lineReader
	yaml  *yaml.Decoder
}

// NewDecoder returns a decoder of a text.
func NewDecoder(text string) *Decoder {
	lines := &lineReader{rest: text}
	decoder := yaml.NewDecoder(lines)
	decoder.KnownFields(true)
	return &Decoder{lines, decoder}
}

// Decode stores the next document in the value that into points to. It returns io.EOF after the last document. Other
// errors are Problems with lines, without values.
func (d *Decoder) Decode(into any) error {
	err := d.yaml.Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	mistyped, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return Problems{syntaxProblem(err, d.lines.line)}
	}
	var problems Problems
	for _, text := range mistyped.Errors {
		problems = append(problems, typeProblem(text))
	}
	return problems
}

// NodeProblem returns the message of an error of yaml.Node.Decode. It omits values, since a value can be a secret.
func NodeProblem(err error) string { return withoutValue(strings.TrimPrefix(err.Error(), "yaml: ")) }

// withoutValue replaces a message of the YAML library that has a value by a message with the remedy.
func withoutValue(message string) string {
	switch {
	case strings.HasPrefix(message, "cannot decode "):
		return "the tag (!!) of a value does not fit the value: remove the tag"
	case strings.HasPrefix(message, "invalid map key: "):
		return "a key is a list or a map: put a value that begins with [ or { in quotes"
	}
	return message
}

// unknownField and wrongType match errors of the YAML library about values, and atLine the start of each.
const (
	atLine       = `^line (\d+): `
	unknownField = atLine + `field (\S+) not found in type `
	wrongType    = atLine + `cannot unmarshal (!!\w+)`
)

// typeProblem rewrites an error of the YAML library about a value.
func typeProblem(text string) Problem {
	if m := regexp.MustCompile(unknownField).FindStringSubmatch(text); m != nil {
		return Problem{Line: number(m[1]), Message: fmt.Sprintf("unknown key %q", m[2])}
	}
	if m := regexp.MustCompile(wrongType).FindStringSubmatch(text); m != nil {
		found := map[string]string{"!!seq": "a list", "!!map": "a map of keys", "!!str": "a text",
			"!!int": "a number"}[m[2]]
		if found == "" {
			found = "a value"
		}
		return Problem{Line: number(m[1]), Message: found + " is not possible here"}
	}
	m := regexp.MustCompile(atLine).FindStringSubmatch(text)
	if m == nil {
		return Problem{Message: text}
	}
	return Problem{Line: number(m[1]), Message: text[len(m[0]):]}
}

// number returns a number in a message, 0 if it is too large.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
