package api

import "time"

// Moment returns t in UTC, as answers and stored records have it. A time outside of the years 0 to
// 9999, which RFC 3339 and JSON cannot express, becomes the nearest one inside. Such times come
// from wrong clocks and foreign files.
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

// Stamp returns t as Moment does, in milliseconds.
func Stamp(t time.Time) time.Time { return Moment(t).Truncate(time.Millisecond) }

// MomentOrNull returns t as Moment does, in milliseconds, and nil for the zero time: JSON's null.
func MomentOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(Stamp(t))
}
