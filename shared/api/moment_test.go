package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

func TestMoment_IsWhatJSONCanHave(t *testing.T) {
	for text, at := range map[string]time.Time{
		`"2026-11-22T07:15:00Z"`: time.Date(2026, 11, 22, 8, 15, 0, 0, time.FixedZone("", 3600)),
		`"9999-12-31T23:59:59Z"`: time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600)),
		`"0000-01-01T00:00:00Z"`: time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 12*3600)),
		`"0001-01-01T00:00:00Z"`: {},
	} {
		if got, err := json.Marshal(api.Moment(at)); err != nil || string(got) != text {
			t.Errorf("%v becomes %s, %v; want %s", at, got, err, text)
		}
	}
	for _, seconds := range []int64{-1 << 62, -1 << 40, 1 << 40, 1 << 62} {
		if _, err := json.Marshal(api.Moment(time.Unix(seconds, 0))); err != nil {
			t.Errorf("%d seconds: %v", seconds, err)
		}
	}
}

func FuzzMoment_AlwaysEncodes(f *testing.F) {
	f.Add(int64(1<<62), int64(0), 0)
	f.Add(int64(253402300799), int64(999_999_999), -86399)
	f.Fuzz(func(t *testing.T, seconds, nanoseconds int64, offset int) {
		at := time.Unix(seconds, nanoseconds).In(time.FixedZone("", offset%86400))
		text, err := json.Marshal(api.Moment(at))
		if err != nil {
			t.Fatal(err)
		}
		if year := at.UTC().Year(); year >= 0 && year <= 9999 && !api.Moment(at).Equal(at) {
			t.Errorf("%v becomes %s", at, text)
		}
	})
}
