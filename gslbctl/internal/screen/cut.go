package screen

import (
	"strings"
	"unicode/utf8"

	"gslb.internal/gslbctl/internal/render"
)

// reset ends every colour (ECMA-48 SGR).
const reset = "\x1b[0m"

// Cut is what is seen of a line through a window of that width whose left edge
// is at column from. Colours take no column, and none is left on at the end. Of
// a character that an edge goes through there is a space.
func Cut(line string, from, width int) string {
	var b strings.Builder
	column, coloured := 0, false
	seen := false // the character before, so that marks upon it are
	for len(line) > 0 {
		if n := colourLength(line); n > 0 {
			b.WriteString(line[:n])
			coloured = line[:n] != reset
			line = line[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		next := column + render.RuneWidth(r)
		if next > column {
			seen = column >= from && next <= from+width
		}
		if seen {
			b.WriteString(line[:n])
		} else {
			b.WriteString(strings.Repeat(" ", max(min(next, from+width)-max(column, from), 0)))
		}
		column = next
		line = line[n:]
	}
	if coloured {
		b.WriteString(reset)
	}
	return b.String()
}

// colourLength is the length of the colour sequence that a text begins with.
func colourLength(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	end := strings.IndexByte(text, 'm')
	if end < 0 || strings.Trim(text[2:end], "0123456789;") != "" {
		return 0
	}
	return end + 1
}
