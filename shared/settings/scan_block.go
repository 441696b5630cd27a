package settings

// maxSimpleKey is how long a key without "?" may be, in octets; YAML says 1024 characters.
const maxSimpleKey = 1000

// block reads the block collection that begins at pos, in column s.indent. Each reading method leaves the scanner at
// the next line's content, and returns false when the text goes beyond the core.
func (s *scanner) block(depth int) bool {
	if s.full(depth) {
		return false
	}
	if s.atDash() {
		return s.blockSequence(depth)
	}
	return s.blockMapping(depth)
}

func (s *scanner) blockMapping(depth int) bool {
	column := s.indent
	start := s.open(mapping)
	for {
		if !s.blockKey() || !s.blockValue(column, true, depth) {
			return false
		}
		if s.eof || s.indent < column {
			break
		}
		if s.indent > column || s.atDash() {
			return false
		}
	}
	s.close(start)
	return true
}

func (s *scanner) blockSequence(depth int) bool {
	column := s.indent
	start := s.open(sequence)
	for {
		s.pos++ // the dash
		if !s.blockEntry(column, depth) {
			return false
		}
		if s.eof || s.indent < column || s.indent == column && !s.atDash() {
			break
		}
		if s.indent > column {
			return false
		}
	}
	s.close(start)
	return true
}

// blockEntry reads what follows a dash in the given column.
func (s *scanner) blockEntry(column, depth int) bool {
	before := s.pos
	s.skipSpaces()
	if s.atDash() {
		return false
	}
	if !s.keyAhead() {
		s.pos = before
		return s.blockValue(column, false, depth)
	}
	s.indent = column + 1 + s.pos - before
	if s.full(depth + 1) {
		return false
	}
	return s.blockMapping(depth + 1)
}

// keyAhead tells whether a mapping's key and its colon begin here.
func (s *scanner) keyAhead() bool {
	pos, count := s.pos, len(s.nodes)
	found := s.blockKey()
	s.pos, s.nodes = pos, s.nodes[:count]
	return found
}

// blockKey reads a key and its colon.
func (s *scanner) blockKey() bool {
	start := s.pos
	switch c := s.peek(0); {
	case c == '"' || c == '\'':
		if !s.quoted(c) {
			return false
		}
	case !s.plainStart():
		return false
	default:
		for s.pass(inBlock); s.peek(0) != ':' || !isBlank(s.peek(1)); s.pass(inBlock) {
			if c := s.peek(0); c == '\n' || c == '#' && s.text[s.pos-1] == ' ' {
				return false
			}
			s.pos++
		}
		s.plain(start)
	}
	s.skipSpaces()
	if s.peek(0) != ':' || !isBlank(s.peek(1)) || s.pos-start > maxSimpleKey {
		return false
	}
	s.pos++
	return !s.atMerge()
}

// blockValue reads what follows a key or a dash of a collection in the given column. A key's value may be a sequence
// in that same column.
func (s *scanner) blockValue(column int, ofKey bool, depth int) bool {
	if s.lineDone() {
		line := s.line
		s.toContent()
		if !s.eof && (s.indent > column || ofKey && s.indent == column && s.atDash()) {
			return s.block(depth + 1)
		}
		s.add(plainScalar, 0, 0, line)
		return true
	}
	if !s.inline(depth + 1) {
		return false
	}
	if !s.lineDone() {
		return false
	}
	s.toContent()
	return s.eof || s.indent <= column // deeper lines would continue a scalar
}

// inline reads a value that begins on the line of its key or dash.
func (s *scanner) inline(depth int) bool {
	switch c := s.peek(0); {
	case c == '[' || c == '{':
		return s.flow(depth)
	case c == '"' || c == '\'':
		return s.quoted(c)
	case !s.plainStart():
		return false
	}
	start := s.pos
	for s.pass(inBlock); s.peek(0) != '\n'; s.pass(inBlock) {
		c := s.peek(0)
		if c == ':' && isBlank(s.peek(1)) {
			return false
		}
		if c == '#' && s.text[s.pos-1] == ' ' {
			break
		}
		s.pos++
	}
	s.plain(start)
	return true
}
