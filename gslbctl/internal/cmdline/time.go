package cmdline

import (
	"fmt"
	"strings"
	"time"
)

// Zoned formats a time in the time zone of now, and in UTC if the zones differ.
func Zoned(at, now time.Time) string {
	local := at.In(now.Location())
	text := local.Format("2006-01-02 15:04:05 MST")
	if _, offset := local.Zone(); offset != 0 {
		text += " (" + at.UTC().Format("15:04:05") + " UTC)"
	}
	return text
}

// ParseMoment parses a future time: RFC 3339, or a clock time of today, tomorrow or a date in the zone of now.
func ParseMoment(text string, now time.Time) (at time.Time, err error) {
	text = strings.TrimSpace(text)
	if at, err = time.Parse(time.RFC3339, strings.ToUpper(text)); err != nil {
		if at, err = parseLocal(text, now); err != nil {
			return at, err
		}
	}
	if !at.After(now) {
		hint := ""
		if strings.Contains(text, ":") && len(text) <= len("15:04:05") {
			hint = fmt.Sprintf(": the next is \"tomorrow %s\"", text)
		}
		return at, fmt.Errorf("%q is %s, which has passed%s", text, Zoned(at, now), hint)
	}
	return at, nil
}

// parseLocal parses a clock time in the time zone of now, optionally after "today", "tomorrow", "yesterday" or a date.
// Without a day, the result is a time of today. For "today" and "yesterday" without a clock time, it is the start of
// the day.
func parseLocal(text string, now time.Time) (time.Time, error) {
	date, clock, dated := strings.Cut(strings.ToLower(text), " ")
	switch {
	case !dated && (date == "today" || date == "yesterday"):
		clock = "00:00"
	case !dated:
		date, clock = "today", date
	}
	var day time.Time
	var err error
	switch date {
	case "today":
		day = now
	case "tomorrow":
		day = now.AddDate(0, 0, 1)
	case "yesterday":
		day = now.AddDate(0, 0, -1)
	default:
		day, err = time.ParseInLocation(time.DateOnly, date, now.Location())
	}
	layout := "15:04"
	if strings.Count(clock, ":") == 2 {
		layout = time.TimeOnly
	}
	of, wrong := time.Parse(layout, strings.TrimSpace(clock))
	if err != nil || wrong != nil {
		return time.Time{}, fmt.Errorf("%q is no time: give one such as 22:00, \"tomorrow 02:00\", \"2026-01-31 "+
			"22:00\" or 2026-01-31T22:00:00Z", text)
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), of.Hour(), of.Minute(), of.Second(), 0, now.Location())
	if at.Hour() != of.Hour() || at.Minute() != of.Minute() {
		return at, fmt.Errorf("%q does not exist: the clock of %s jumps over it", text, now.Location())
	}
	return at, nil
}
