package cmdline // inside: it uses Day and ParseSpan

import (
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/render"
)

// The durations in tables are valid input.
func TestSpan_TakesWhatTablesPrint(t *testing.T) {
	for _, d := range []time.Duration{time.Second, 90 * time.Second, 5 * time.Hour, Day, 26 * time.Hour, 400 * Day} {
		if got, err := ParseSpan(render.Span(d)); err != nil || got != d {
			t.Errorf("%s: %v, %v", render.Span(d), got, err)
		}
	}
	for text, want := range map[string]time.Duration{"1d12h30m": 36*time.Hour + 30*time.Minute, "0d": 0,
		"1.5h": 90 * time.Minute, "-1d": -Day} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "1D", "1d1", "1d-2h", "1.5d", "1d2d", "99999999999999999999d",
		"1000000d", "-1d2h", "1d 2h"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
