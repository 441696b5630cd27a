package render

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// None is the text of an absent value.
const None = "-"

// Printable replaces the non-printable characters of a text, such as terminal control characters.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Span formats a duration in its two largest units: 45s, 5m10s, 3h12m, 12d4h.
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

// Ago formats the time since an event, such as "5m ago"; None for a nil or zero time.
func Ago(at *time.Time, now time.Time) string {
	if at == nil || at.IsZero() {
		return None
	}
	return Span(max(0, now.Sub(*at))) + " ago"
}

// Until formats the time until an event, such as "in 5m", or since a past event.
func Until(at, now time.Time) string {
	if left := at.Sub(now); left > 0 {
		return "in " + Span(left)
	}
	return Span(now.Sub(at)) + " ago"
}

// Count formats a number with its noun in singular or plural.
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// YesNo formats a truth value.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Lines returns the lines as one printable text.
func Lines(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(Printable(line) + "\n")
	}
	return b.String()
}
