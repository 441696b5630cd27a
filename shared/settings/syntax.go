package settings

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// lineReader passes one line at a time to the YAML library, so that its last line is known after an error. For some
// mistakes the messages of the library name the line of the enclosing block.
type lineReader struct {
	rest string
	line int  // number of the last line passed, from 1
	tail bool // the rest of this line has not been passed yet
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	if !r.tail {
		r.line++
	}
	n := strings.IndexByte(r.rest, '\n') + 1
	if n == 0 {
		n = len(r.rest)
	}
	r.tail = n > len(p)
	n = copy(p, r.rest[:n])
	r.rest = r.rest[n:]
	return n, nil
}

// syntaxProblem rewrites the message of the library so that it leads to the mistake, without parts of secrets. reached
// is the last line that the library has read.
func syntaxProblem(err error, reached int) Problem {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if rest, found := strings.CutPrefix(message, "line "); found {
		if number, what, found := strings.Cut(rest, ": "); found {
			line, _ = strconv.Atoi(number)
			message = what
		}
	}
	switch {
	case strings.HasPrefix(message, "unknown anchor"):
		line = reached
		message = "a value that begins with * stands for an anchor (&), and that anchor is nowhere: quote the value"
	case strings.HasPrefix(message, "did not find expected ',' or"):
		line++ // the library counts these from 0
		message = "a comma or a closing bracket is missing in the list or map here"
	case strings.HasPrefix(message, "did not find expected"):
		line = reached
		message = "the indentation or the punctuation is wrong here or in the line before"
	case strings.Contains(message, "UTF-8"):
		line = reached
		message = "this line is not text in UTF-8: save the file as UTF-8"
	case strings.HasPrefix(message, "control characters"):
		line = reached
		message = "this line has a control character: remove it"
	case strings.HasPrefix(message, "exceeded max depth"):
		message = fmt.Sprintf("nested more than %d deep", maxDepth)
	}
	if line == 0 {
		line = reached
	}
	return Problem{Line: line, Message: "not valid YAML: " + withoutValue(message)}
}
