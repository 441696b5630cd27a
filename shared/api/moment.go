package api

import "time"

// Moment is t as an answer and a stored record can have it: in UTC, and the nearest moment of the years 0 to 9999 where t is beyond
// them, which RFC 3339 and JSON do not know. A clock that was set wrong, or a file of somebody else, may say any time.
func Moment(t time.Time) time.Time {
	t = t.UTC()
	switch year := t.Year(); {
	case year < 0:
		return time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		return time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	}
	return t
}
