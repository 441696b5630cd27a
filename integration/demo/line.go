package demo

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// style is a terminal attribute as a number of ECMA-48's "select graphic rendition"; empty is plain.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// span is a piece of a line in one style. Its text has no control characters and only letters of one column.
type span struct {
	text  string
	style style
}

// line is one row of the screen.
type line []span

func words(s style, format string, args ...any) line {
	return line{{clean(fmt.Sprintf(format, args...)), s}}
}

// pad makes the text fill width columns and one blank, cutting what is longer.
func pad(text string, width int, s style) span {
	text = clean(text)
	if n := utf8.RuneCountInString(text); n < width {
		return span{text + strings.Repeat(" ", width-n+1), s}
	}
	return span{cut(text, width) + " ", s}
}

// clean replaces control characters: texts of other programs must not drive the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}

func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width)])
}

// render writes the line for a terminal of that many columns; without color it is the bare text.
func (l line) render(width int, color bool) string {
	var b strings.Builder
	for _, s := range l {
		text := cut(s.text, width)
		width -= utf8.RuneCountInString(text)
		if !color || s.style == plain {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", s.style, text)
	}
	return b.String()
}
