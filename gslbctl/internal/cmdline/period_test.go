package cmdline // inside: it sets the flags of a Period

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestParsePast_TakesWhatPeopleType(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 29, 21, 30, 0, 0, berlin) // the clocks jumped from 02:00 to 03:00 in the night before
	for text, want := range map[string]string{
		"now":                  "2026-03-29 21:30:00 CEST (19:30:00 UTC)",
		"10m":                  "2026-03-29 21:20:00 CEST (19:20:00 UTC)",
		"1d":                   "2026-03-28 20:30:00 CET (19:30:00 UTC)",
		"21:30":                "2026-03-29 21:30:00 CEST (19:30:00 UTC)",
		"21:31":                "2026-03-28 21:31:00 CET (20:31:00 UTC)",
		"Yesterday 14:05":      "2026-03-28 14:05:00 CET (13:05:00 UTC)",
		"Yesterday":            "2026-03-28 00:00:00 CET (23:00:00 UTC)",
		" today ":              "2026-03-29 00:00:00 CET (23:00:00 UTC)",
		"today 14:05:06":       "2026-03-29 14:05:06 CEST (12:05:06 UTC)",
		"2026-03-01":           "2026-03-01 00:00:00 CET (23:00:00 UTC)",
		"2026-03-01 02:00":     "2026-03-01 02:00:00 CET (01:00:00 UTC)",
		"2026-03-28t21:00:00z": "2026-03-28 22:00:00 CET (21:00:00 UTC)",
	} {
		if got, err := ParsePast(text, at); err != nil || Zoned(got, at) != want {
			t.Errorf("%q: %s %v, want %s", text, Zoned(got, at), err, want)
		}
	}
	for text, words := range map[string]string{
		"-1h": "is negative", "": "is no time", "soon": "is no time", "2026-02-30": "is no time", "25:00": "is no time",
		"tomorrow": "is no time", "yesterday soon": "is no time",
		"today 22:00": "has not passed", "2026-04-01": "has not passed", "2026-04-01T00:00:00Z": "has not passed",
	} {
		if got, err := ParsePast(text, at); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %s %v, want an error with %q", text, got, err, words)
		}
	}
}

func TestPeriod_IsARangeOrAMoment(t *testing.T) {
	for _, tc := range []struct {
		Period
		want, fails string
	}{
		{Period{}, "", ""},
		{Period{since: "1h"}, "from=2026-01-02T02:04:05Z", ""},
		{Period{since: "2h", until: "1h"}, "from=2026-01-02T01:04:05Z to=2026-01-02T02:04:05Z", ""},
		{Period{until: "2026-01-01"}, "to=2026-01-01T00:00:00Z", ""},
		{Period{since: "yesterday", until: "today"}, "from=2026-01-01T00:00:00Z to=2026-01-02T00:00:00Z", ""},
		{Period{at: "1d"}, "from=2026-01-01T02:59:05Z to=2026-01-01T03:09:05Z", ""},
		{Period{since: "1h", until: "2h"}, "", "before --since"},
		{Period{since: "1h", at: "2h"}, "", "--at excludes"},
		{Period{until: "x"}, "", "--until: "},
	} {
		q := url.Values{}
		err := tc.set(q, "from", "to", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%+v: %v, want %q", tc.Period, err, tc.fails)
		}
		got, _ := url.QueryUnescape(strings.ReplaceAll(q.Encode(), "&", " "))
		if err == nil && got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.Period, got, tc.want)
		}
	}
}
