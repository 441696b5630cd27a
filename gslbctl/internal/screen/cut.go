package screen

import (
	"strings"
	"unicode/utf8"
)

// reset ends every colour (ECMA-48 SGR).
const reset = "\x1b[0m"

// Cut is what is seen of a line through a window of that width whose left edge
// is at column from. Colours take no column, and none is left on at the end.
func Cut(line string, from, width int) string {
	var b strings.Builder
	column, coloured := 0, false
	for len(line) > 0 {
		if n := colourLength(line); n > 0 {
			b.WriteString(line[:n])
			coloured = line[:n] != reset
			line = line[n:]
			continue
		}
		_, n := utf8.DecodeRuneInString(line)
		if column >= from && column < from+width {
			b.WriteString(line[:n])
		}
		column++
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
