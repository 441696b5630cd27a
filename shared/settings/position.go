package settings

import "strconv"

// Position is where something stands in the configuration. A list element's struct that embeds a Position is
// given the place where that element begins. The zero Position means "not from a file".
type Position struct {
	File string `json:"-"` // as the file was opened: the path given, or the path its includes line led to
	Line int    `json:"-"` // counted from 1
	// Column is counted from 1, in octets. It is 0 for YAML.
	Column int `json:"-"`
}

// String is "file:line", for JSON "file:line:column", or nothing for the zero Position.
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
