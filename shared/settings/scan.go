package settings

import (
	"strings"
	"unicode/utf8"
)

// scanner reads the plain core of YAML: block and flow collections, plain and quoted scalars on one line,
// comments. It exists for size: a file with 100 000 domains and 400 000 servers takes it a tenth of the time and a
// fifth of the memory that a full YAML parser needs. It never guesses. Whatever goes beyond the core (anchors,
// tags, escapes, block scalars, tabs, scalars over several lines, errors of any kind) makes it give up, and compose
// reads the text in its place. What scan accepts, compose reads as the same nodes; a fuzz test compares them.
type scanner struct {
	tree
	pos    int // next octet to read
	line   int
	indent int  // column of the current line's first character
	eof    bool // no line with content is left
}

// scan returns what text says, or false when it goes beyond the core.
func scan(text string) (tree, bool) {
	if !onlyCoreCharacters(text) {
		return tree{}, false
	}
	// Dense files have a node per eight octets; memory that is not used is not touched either.
	s := scanner{tree: tree{text, make([]stored, 0, len(text)/8+16)}, line: 1}
	s.toContent()
	if !s.eof && s.indent == 0 && strings.HasPrefix(s.text[s.pos:], "---\n") {
		s.pos += len("---")
		if s.toContent(); s.eof {
			return tree{}, false
		}
	}
	if s.eof {
		return tree{}, true
	}
	if s.indent != 0 || !s.root() || !s.eof {
		return tree{}, false
	}
	return s.tree, true
}

// root reads the outermost collection.
func (s *scanner) root() bool {
	if c := s.peek(0); c != '{' && c != '[' {
		return s.block(0)
	}
	if !s.flow(0) || !s.lineDone() {
		return false
	}
	s.toContent()
	return true
}

// onlyCoreCharacters tells whether text has no control characters, tabs or line breaks other than \n, and is UTF-8
// that YAML calls printable.
func onlyCoreCharacters(text string) bool {
	var found class
	for i := range len(text) {
		found |= classes[text[i]]
	}
	if found&refused != 0 {
		return false
	}
	if found&beyondASCII == 0 {
		return true
	}
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		switch {
		case r >= utf8.RuneSelf && r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
			return false
		}
	}
	return true
}

// toContent moves from anywhere in a line that is done with to the first character of the next line that has more
// than a comment. At the start of the text the first line counts as next.
func (s *scanner) toContent() {
	if s.pos > 0 {
		s.skipLine()
	}
	for s.pos < len(s.text) {
		start := s.pos
		s.skipSpaces()
		if s.pos == len(s.text) {
			break
		}
		if c := s.text[s.pos]; c != '\n' && c != '#' {
			s.indent = s.pos - start
			return
		}
		s.skipLine()
	}
	s.eof = true
}

// skipLine moves behind the next line break.
func (s *scanner) skipLine() {
	n := strings.IndexByte(s.text[s.pos:], '\n')
	if n < 0 {
		s.pos = len(s.text)
		return
	}
	s.pos += n + 1
	s.line++
}

func (s *scanner) skipSpaces() {
	for s.pos < len(s.text) && s.text[s.pos] == ' ' {
		s.pos++
	}
}

// peek returns the octet at an offset from pos; behind the end there are line breaks.
func (s *scanner) peek(offset int) byte {
	if s.pos+offset < len(s.text) {
		return s.text[s.pos+offset]
	}
	return '\n'
}

// atDash tells whether a block sequence's entry begins here.
func (s *scanner) atDash() bool { return s.peek(0) == '-' && isBlank(s.peek(1)) }

// lineDone tells whether nothing but a comment is left in the line. A comment needs a space before it.
func (s *scanner) lineDone() bool {
	before := s.pos
	s.skipSpaces()
	c := s.peek(0)
	return c == '\n' || c == '#' && (s.pos > before || s.text[s.pos-1] == ' ')
}

// plain adds the plain scalar from begin to pos, without the spaces at its end.
func (s *scanner) plain(begin int) {
	end := s.pos
	for end > begin && s.text[end-1] == ' ' {
		end--
	}
	s.add(plainScalar, begin, end, s.line)
}

// open begins a collection and returns its index for close.
func (s *scanner) open(k kind) int {
	s.add(k, 0, 0, s.line)
	return len(s.nodes) - 1
}

// full tells whether a limit is reached: the text is then left to compose, which says so.
func (s *scanner) full(depth int) bool { return depth > maxDepth || len(s.nodes) > maxNodes }

// isBlank tells whether c ends an indicator.
func isBlank(c byte) bool { return c == ' ' || c == '\n' }
