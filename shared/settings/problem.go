package settings

import (
	"strconv"
	"strings"
)

// Problem is a fault of a configuration: its place and its remedy.
type Problem struct {
	File    string // the file, or "environment variable NAME"; empty where neither is known
	Line    int    // counted from 1; 0 when unknown
	Column  int    // counted from 1, in octets for JSON, in characters for YAML; 0 when unknown
	Key     string // full path with indices: domains[2].regions[0]
	Value   string // the wrong value; empty for a missing value or a secret
	Message string // the fault and its remedy
}

// String returns one line: position, key, value and message.
func (p Problem) String() string {
	var b strings.Builder
	for _, part := range []string{Position{p.File, p.Line, p.Column}.String(), p.Key} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	if p.Value != "" {
		b.WriteString(quoteValue(p.Value))
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// in returns the problem with a position.
func (p Problem) in(at Position) Problem {
	p.File, p.Line, p.Column = at.File, at.Line, at.Column
	return p
}

// Problems are all faults of a configuration, in the order of files and lines. It is an error unless empty.
type Problems []Problem

// Error has one line per problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// maxShown bounds the octets of a wrong value in a message.
const maxShown = 60

// quoteValue quotes an operator's value for a message, shortened, on one line.
func quoteValue(v string) string {
	if len(v) > maxShown {
		v = v[:maxShown] + "..."
	}
	return strconv.Quote(v)
}

// Position is a place in the configuration files. The zero Position means "not from a file".
type Position struct {
	File   string // the path of the main file, or the path from includes
	Line   int    // counted from 1; 0 when unknown
	Column int    // counted from 1, in octets for JSON, in characters for YAML; 0 when unknown
}

// String returns "file:line:column", "file:line" without a column, and "" for the zero Position.
func (p Position) String() string {
	if p.File == "" {
		return ""
	}
	if p.Line == 0 {
		return p.File
	}
	text := p.File + ":" + strconv.Itoa(p.Line)
	if p.Column == 0 {
		return text
	}
	return text + ":" + strconv.Itoa(p.Column)
}
