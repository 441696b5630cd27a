package settings

import "strconv"

// Position is a place in the configuration files. Load sets it in a list element's struct that embeds one. The zero
// Position means "not from a file".
type Position struct {
	File string `json:"-"` // as the file was opened: the path given, or the path its includes line led to
	Line int    `json:"-"` // counted from 1
	// Column is counted from 1, in octets. It is 0 for YAML.
	Column int `json:"-"`
}

// String returns "file:line", for JSON "file:line:column", and "" for the zero Position.
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
