package cmdline

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// aroundAt is the length of the period before and after --at.
const aroundAt = 5 * time.Minute

// Period has the unparsed flags for a period in the past.
type Period struct{ since, until, at string }

// Flags adds --since, --until and --at.
func (p *Period) Flags(cmd *cobra.Command) {
	p.SinceFlag(cmd)
	cmd.Flags().StringVar(&p.until, "until", "", "only entries until this `time`, in a format of --since")
	cmd.Flags().StringVar(&p.at, "at", "", "only entries within 5m of this `time`, in a format of --since")
}

// SinceFlag adds only --since.
func (p *Period) SinceFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.since, "since", "",
		"only entries since this `time`: an age, such as 10m or 2d, a date, such as yesterday, or a time, "+
			"such as \"yesterday 14:00\"")
}

// HasEnd reports whether the period has an end.
func (p *Period) HasEnd() bool { return p.until != "" || p.at != "" }

// set adds the start and end of the period to a query, as the fields from and to.
func (p *Period) set(q url.Values, from, to string, now time.Time) error {
	if p.at != "" && (p.since != "" || p.until != "") {
		return errors.New("--at excludes --since and --until: give one of them")
	}
	var start, end time.Time
	for _, flag := range []struct {
		name, text string
		into       *time.Time
	}{{"since", p.since, &start}, {"until", p.until, &end}, {"at", p.at, &start}} {
		if flag.text == "" {
			continue
		}
		at, err := ParsePast(flag.text, now)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag.name, err)
		}
		*flag.into = at
	}
	if p.at != "" {
		start, end = start.Add(-aroundAt), start.Add(aroundAt)
	}
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		return fmt.Errorf("--until is %s, which is before --since, %s", Zoned(end, now), Zoned(start, now))
	}
	if !start.IsZero() {
		q.Set(from, start.UTC().Format(time.RFC3339))
	}
	if !end.IsZero() {
		q.Set(to, end.UTC().Format(time.RFC3339))
	}
	return nil
}

// Query returns the fields that are not empty and the bounds of a period as a query.
func Query(now time.Time, p *Period, from, to string, fields map[string]string) (url.Values, error) {
	q := url.Values{}
	for name, value := range fields {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q, p.set(q, from, to, now)
}

// ParsePast parses a time in the past in the time zone of now: "now", an age such as 2d3h, an RFC 3339 time,
// "yesterday", "today" or a date, optionally followed by a clock time. A clock time without a day is its latest
// occurrence.
func ParsePast(text string, now time.Time) (at time.Time, err error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") {
		return now, nil
	}
	if age, err := ParseSpan(text); err == nil {
		if age < 0 {
			return at, fmt.Errorf("%q is negative: give an age such as 10m", text)
		}
		return now.Add(-age), nil
	}
	if at, err = time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return past(at, text, now)
	}
	if at, err = time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return past(at, text, now)
	}
	at, err = parseLocal(text, now)
	if err != nil {
		return at, fmt.Errorf("%q is no time: give an age such as 10m or 2d, or a time such as 14:00, yesterday, "+
			"\"yesterday 14:00\", 2026-01-31, \"2026-01-31 14:00\" or 2026-01-31T14:00:00Z", text)
	}
	if at.After(now) && !strings.Contains(text, " ") {
		return parseLocal("yesterday "+text, now)
	}
	return past(at, text, now)
}

func past(at time.Time, text string, now time.Time) (time.Time, error) {
	if at.After(now) {
		return at, fmt.Errorf("%q is %s, which has not passed", text, Zoned(at, now))
	}
	return at, nil
}
