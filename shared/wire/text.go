package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// forPeople makes any text valid for a message: printable, and truncated to the limit at a character boundary.
func forPeople(s string) string {
	if len(s) <= MaxText && printable(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > MaxText {
		s = s[:MaxText]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}

// printable reports whether s is UTF-8 without control and formatting characters.
func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}
