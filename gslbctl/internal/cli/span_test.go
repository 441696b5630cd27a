package cli // inside: it uses day and parseSpan

import (
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/render"
)

// What tables print as a time can be typed as one.
func TestSpan_TakesWhatTablesPrint(t *testing.T) {
	for _, d := range []time.Duration{time.Second, 90 * time.Second, 5 * time.Hour, day, 26 * time.Hour, 400 * day} {
		if got, err := parseSpan(render.Span(d)); err != nil || got != d {
			t.Errorf("%s: %v, %v", render.Span(d), got, err)
		}
	}
	for text, want := range map[string]time.Duration{"1d12h30m": 36*time.Hour + 30*time.Minute, "0d": 0,
		"1.5h": 90 * time.Minute, "-1d": -day} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "1D", "1d1", "1d-2h", "1.5d", "1d2d", "99999999999999999999d",
		"1000000d", "-1d2h", "1d 2h"} {
		if got, err := parseSpan(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

func TestSpan_DaysReachTheNode(t *testing.T) {
	for args, sent := range map[string]string{
		"overrides set app.example.com 192.0.2.11:443 --healthy=false --reason r --expires-in 1d": `"expires_in":"24h0m0s"`,
		"servers drain app.example.com:192.0.2.12:443 --over 1d2h":                                `{"duration":"26h0m0s"}`,
	} {
		n := startNode(t)
		r := ask(t, args, n)
		if list := n.changes(); r.code != 0 || len(list) != 1 || !strings.Contains(list[0], sent) {
			t.Errorf("%s: %+v, sent %q", args, r, list)
		}
	}
	r := call(t, System{}, nil, "overrides", "set", "a", "b", "--expires-in", "1day")
	if r.code != 2 || !strings.Contains(r.errors, "30s, 5m or 1d") {
		t.Errorf("%+v", r)
	}
}
