package render

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// None stands where there is nothing to show.
const None = "-"

// Printable replaces what a terminal would obey rather than show.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Span writes a duration in its two largest units: 45s, 5m10s, 3h12m, 12d4h.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	d = d.Abs()
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return two(int(d/time.Minute), "m", int(d%time.Minute/time.Second), "s")
	case d < day:
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	default:
		return two(int(d/day), "d", int(d%day/time.Hour), "h")
	}
}

func two(large int, unit string, small int, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smallUnit)
}

// Ago tells how long before now a moment was; None for one that never was.
func Ago(at *time.Time, now time.Time) string {
	if at == nil || at.IsZero() {
		return None
	}
	return Span(max(0, now.Sub(*at))) + " ago"
}

// Until tells how long after now a moment is, and for one that has passed,
// since when.
func Until(at, now time.Time) string {
	if left := at.Sub(now); left > 0 {
		return "in " + Span(left)
	}
	return Span(now.Sub(at)) + " ago"
}

// Count writes a number with its noun in singular or plural.
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// YesNo writes a truth value.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// PrintableLines is Printable for a text of several lines.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}
