package hints // inside: it uses parseBackends and formatBackends

import (
	"slices"
	"strings"
	"testing"
)

// FuzzParseBackends parses the backends of a peer with the secret. The result is bounded, and has the same text form.
func FuzzParseBackends(f *testing.F) {
	f.Add("app.example.com:192.0.2.1:443,b.example:2001:db8::1:80")
	f.Add(",,")
	f.Add(strings.Repeat("a.example:192.0.2.1:1,", maxBackends))
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := parseBackends(text)
		if err != nil {
			return
		}
		if len(ids) > maxBackends {
			t.Fatalf("%d backends", len(ids))
		}
		if again, err := parseBackends(formatBackends(ids)); err != nil || !slices.Equal(again, ids) {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	})
}

func TestParseBackends_RejectsTooManyAndInvalidIDs(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a.example:192.0.2.1:1,", maxBackends) + "a.example:192.0.2.1:1",
		strings.Repeat("a", maxText+1), "a.example", "a.example:192.0.2.1:0", "a.example:192.0.2.1:80,b",
	} {
		if ids, err := parseBackends(text); err == nil {
			t.Errorf("%.40q: %v", text, ids)
		}
	}
}
