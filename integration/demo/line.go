package demo

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The styles of text on the screen.
var (
	plain  = ansi.Style{}
	bold   = plain.Bold()
	dim    = plain.Faint()
	red    = plain.ForegroundColor(ansi.Red)
	green  = plain.ForegroundColor(ansi.Green)
	yellow = plain.ForegroundColor(ansi.Yellow)
)

// words formats text in one style.
func words(style ansi.Style, format string, args ...any) string {
	return style.Styled(clean(fmt.Sprintf(format, args...)))
}

// pad returns a text of width columns and a blank. Longer texts are cut.
func pad(text string, width int, style ansi.Style) string {
	text = ansi.Truncate(clean(text), width, "")
	return style.Styled(text + strings.Repeat(" ", width-ansi.StringWidth(text)+1))
}

// clean replaces control characters by blanks: text of other programs must not
// steer the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}
