package api

import "time"

// Moment returns t in UTC, the form of times in answers and stored records. It clamps a time outside of the years 0 to
// 9999, which RFC 3339 and JSON cannot express. Wrong clocks and foreign files have such times.
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

// Stamp returns t in UTC, truncated to milliseconds and clamped to the years 0 to 9999.
func Stamp(t time.Time) time.Time { return Moment(t).Truncate(time.Millisecond) }

// MomentOrNull returns Stamp of t, or nil (null in JSON) for the zero time.
func MomentOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(Stamp(t))
}
