package settings

import "strings"

// flow reads the flow collection that begins at pos. It may go over several lines.
func (s *scanner) flow(depth int) bool {
	if s.full(depth) {
		return false
	}
	closing, k := byte(']'), sequence
	if s.text[s.pos] == '{' {
		closing, k = '}', mapping
	}
	start := s.open(k)
	s.pos++
	for {
		if !s.skipFlowSpace() {
			return false
		}
		if s.text[s.pos] == closing {
			break
		}
		if k == mapping && !s.flowKey() || !s.flowNode(depth) || !s.skipFlowSpace() {
			return false
		}
		if c := s.text[s.pos]; c == ',' {
			s.pos++
		} else if c != closing {
			return false
		}
	}
	s.pos++
	s.close(start)
	return true
}

// skipFlowSpace moves to the next character that is neither space nor comment; false at the end of the text.
func (s *scanner) skipFlowSpace() bool {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ':
			s.pos++
		case c == '\n', c == '#' && isBlank(s.text[s.pos-1]):
			s.skipLine()
		default:
			return true
		}
	}
	return false
}

// flowKey reads a key, its colon and the space up to the value, all on one line.
func (s *scanner) flowKey() bool {
	start := s.pos
	spaceNeeded := true
	if c := s.peek(0); c == '"' || c == '\'' {
		spaceNeeded = false // as in JSON
		if !s.quoted(c) {
			return false
		}
	} else if !s.flowPlain() {
		return false
	}
	s.skipSpaces()
	if s.peek(0) != ':' || spaceNeeded && s.peek(1) != ' ' || s.pos-start > maxSimpleKey {
		return false
	}
	s.pos++
	return s.skipFlowSpace() && !s.atMerge()
}

// flowNode reads one value inside a flow collection.
func (s *scanner) flowNode(depth int) bool {
	switch c := s.peek(0); c {
	case '[', '{':
		return s.flow(depth + 1)
	case '"', '\'':
		return s.quoted(c)
	}
	return s.flowPlain()
}

// flowPlain reads a plain scalar inside a flow collection.
func (s *scanner) flowPlain() bool {
	if !s.plainStart() || s.full(0) {
		return false
	}
	start := s.pos
	for ; ; s.pos++ {
		s.pass(inFlow)
		c := s.peek(0)
		if c == '\n' || c == ',' || c == ']' || c == '}' || c == '#' && s.text[s.pos-1] == ' ' {
			break
		}
		if c == '[' || c == '{' || c == '?' {
			return false
		}
		if c == ':' && s.peek(1) == ' ' {
			break
		}
		if c == ':' && strings.IndexByte("\n,[]{}?", s.peek(1)) >= 0 {
			return false
		}
	}
	s.plain(start)
	return true
}

// quoted reads a scalar in the given quotes that has no escapes and stays on its line.
func (s *scanner) quoted(quote byte) bool {
	begin := s.pos + 1
	for {
		s.pos++
		s.pass(inQuotes)
		switch c := s.peek(0); {
		case c == '\n', c == '\\' && quote == '"':
			return false
		case c == quote:
			if quote == '\'' && s.peek(1) == quote {
				return false
			}
			s.add(quotedScalar, begin, s.pos, s.line)
			s.pos++
			return true
		}
	}
}

// plainStart tells whether a plain scalar of the core can begin here: with no indicator, and not like "---" or "...".
func (s *scanner) plainStart() bool {
	c := s.peek(0)
	if c == '-' || c == '.' {
		after := s.peek(1)
		return !isBlank(after) && after != c && strings.IndexByte(",[]{}?:#", after) < 0
	}
	return classes[c]&noStart == 0
}

// atMerge tells whether the key that was read last asks for another mapping's keys.
func (s *scanner) atMerge() bool {
	n := s.node(len(s.nodes) - 1)
	return n.kind == plainScalar && n.text == "<<"
}
