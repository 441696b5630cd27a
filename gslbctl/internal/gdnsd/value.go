package gdnsd

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	maxDepth  = 32       // nested hashes, and nested files
	maxOctets = 16 << 20 // of all files together
)

// hash is a configuration value with keys, in the order of the file. Values are string, []any or *hash. A nil *hash has
// no keys.
type hash struct {
	keys []string
	of   map[string]any
}

// get returns the value of a key, or nil.
func (h *hash) get(key string) any {
	if h == nil {
		return nil
	}
	return h.of[key]
}

func (h *hash) sub(key string) *hash {
	sub, _ := h.get(key).(*hash)
	return sub
}

func (h *hash) text(key string) string {
	s, _ := h.get(key).(string)
	return s
}

func (h *hash) set(key string, value any) bool {
	if _, twice := h.of[key]; twice {
		return false
	}
	h.keys, h.of[key] = append(h.keys, key), value
	return true
}

// list returns a value as a list: a string is a list of length 1 (gdnsd.config(5)).
func list(value any) (out []string) {
	if s, single := value.(string); single {
		return []string{s}
	}
	all, _ := value.([]any)
	for _, v := range all {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// integer parses a number of at most bits bits as gdnsd does: decimal, hexadecimal (0x1f) or octal (037).
func integer(text string, bits int) (uint64, error) {
	base := 10
	switch {
	case len(text) > 2 && strings.EqualFold(text[:2], "0x"):
		text, base = text[2:], 16
	case len(text) > 1 && text[0] == '0':
		text, base = text[1:], 8
	}
	return strconv.ParseUint(text, base, bits)
}

// source reads files and their includes, at most maxOctets together.
type source struct {
	files fs.FS
	read  int
}

func (s *source) text(name string) (string, error) {
	info, err := fs.Stat(s.files, name)
	if err != nil {
		return "", err
	}
	if s.read += int(min(info.Size(), maxOctets+1)); s.read > maxOctets || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: no regular file, or the files have more than %d octets together", name, maxOctets)
	}
	text, err := fs.ReadFile(s.files, name)
	return string(text), err
}

// file returns the value of a file: a *hash or a []any.
func (s *source) file(name string, depth int) (any, error) {
	text, err := s.text(name)
	if err != nil {
		return nil, err
	}
	p := &parser{source: s, name: name, text: text, depth: depth}
	var value any
	if p.blank(); p.peek() == '[' {
		value, err = p.value()
	} else {
		value, err = p.hash(0)
	}
	if err == nil && p.at < len(p.text) {
		err = p.fault("there is text after the end")
	}
	return value, err
}

// parser reads one file.
type parser struct {
	source *source
	name   string
	text   string
	at     int
	depth  int
}

func (p *parser) fault(format string, args ...any) error {
	line := 1 + strings.Count(p.text[:min(p.at, len(p.text))], "\n")
	return fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) done() bool { return p.at >= len(p.text) }

// blank skips white space, commas and comments.
func (p *parser) blank() {
	for ; !p.done(); p.at++ {
		switch c := p.peek(); {
		case c == '#' || c == ';':
			for !p.done() && p.peek() != '\n' {
				p.at++
			}
		case !strings.ContainsRune(" \t\r\n,", rune(c)):
			return
		}
	}
}

// hash reads keys and values until the octet end, which is 0 for the end of the file.
func (p *parser) hash(end byte) (*hash, error) {
	h := &hash{of: map[string]any{}}
	for {
		p.blank()
		switch {
		case p.done() && end == 0:
			return h, nil
		case !p.done() && end != 0 && p.peek() == end:
			p.at++
			return h, nil
		case strings.HasPrefix(p.text[p.at:], "$include{"):
			if err := p.merge(h); err != nil {
				return nil, err
			}
			continue
		}
		key, err := p.word()
		if err != nil {
			return nil, err
		}
		if p.blank(); p.peek() != '=' {
			return nil, p.fault("%q has no value: write %s => value", key, key)
		}
		if p.at++; p.peek() == '>' {
			p.at++
		}
		p.blank()
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		if !h.set(key, value) {
			return nil, p.fault("%q is there twice", key)
		}
	}
}

func (p *parser) value() (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault("values or files are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.peek() == '{':
		p.at++
		return p.hash('}')
	case p.peek() == '[':
		p.at++
		return p.array()
	case strings.HasPrefix(p.text[p.at:], "$include{"):
		names, err := p.included()
		if err != nil {
			return nil, err
		}
		if len(names) != 1 {
			return nil, p.fault("a value includes one file, not %d", len(names))
		}
		return p.source.file(names[0], p.depth)
	}
	return p.word()
}

func (p *parser) array() (any, error) {
	out := []any{}
	for {
		p.blank()
		if p.done() {
			return nil, p.fault("a [ has no ]")
		}
		if p.peek() == ']' {
			p.at++
			return out, nil
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

// word reads a string, quoted or not, with the escapes of zone files.
func (p *parser) word() (string, error) {
	var b strings.Builder
	begin, quoted := p.at, p.peek() == '"'
	if quoted {
		p.at++
	} else if p.peek() == '$' {
		return "", p.fault("a word begins with $: write it in quotes")
	}
	for ; !p.done(); p.at++ {
		switch c := p.peek(); {
		case quoted && c == '"':
			p.at++
			return b.String(), nil
		case !quoted && strings.ContainsRune(" \t\r\n][}{;#,\"=", rune(c)):
			if p.at == begin {
				return "", p.fault("%q where a word should be", c)
			}
			return b.String(), nil
		case c == '\\':
			octet, width, ok := unescape(p.text[p.at+1:])
			if !ok {
				return "", p.fault("a backslash requires a character, or three digits up to 255")
			}
			b.WriteByte(octet)
			p.at += width
		default:
			b.WriteByte(c)
		}
	}
	if quoted || p.at == begin {
		return "", p.fault("the file ends within a value")
	}
	return b.String(), nil
}

func unescape(s string) (octet byte, width int, ok bool) {
	if s == "" {
		return 0, 0, false
	}
	if s[0] < '0' || s[0] > '9' {
		return s[0], 1, true
	}
	n := 0
	for i := range 3 {
		if i >= len(s) || s[i] < '0' || s[i] > '9' {
			return 0, 0, false
		}
		n = 10*n + int(s[i]-'0')
	}
	return byte(n), 3, n <= 255
}

// included returns the files that an include names.
func (p *parser) included() ([]string, error) {
	p.at += len("$include{")
	p.blank()
	name, err := p.word()
	if err != nil {
		return nil, err
	}
	if p.blank(); p.peek() != '}' {
		return nil, p.fault("$include{%s has no }", name)
	}
	p.at++
	if strings.HasPrefix(name, "/") {
		return nil, p.fault("%s is not read: only files in the folder of the configuration are", name)
	}
	pattern := path.Join(path.Dir(p.name), name)
	if info, err := fs.Stat(p.source.files, pattern); err == nil && info.IsDir() {
		return fs.Glob(p.source.files, path.Join(pattern, "*"))
	}
	names, err := fs.Glob(p.source.files, pattern)
	if err == nil && len(names) == 0 {
		err = p.fault("%s: there is no such file", name)
	}
	return names, err
}

// merge adds included files to a hash.
func (p *parser) merge(h *hash) error {
	names, err := p.included()
	if err != nil {
		return err
	}
	if p.depth++; p.depth > maxDepth {
		return p.fault("files are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	for _, name := range names {
		value, err := p.source.file(name, p.depth)
		if err != nil {
			return err
		}
		more, ok := value.(*hash)
		if !ok {
			return p.fault("%s has a list where keys should be", name)
		}
		for _, key := range more.keys {
			if !h.set(key, more.of[key]) {
				return p.fault("%s: %q is there twice", name, key)
			}
		}
	}
	return nil
}
