package hints // inside: it uses the parsers and votesOf

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
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

// FuzzParseAnswer parses votes of a peer with the secret. Each backend has one vote, whose time is in the past.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"checks":true,"votes":[{"state":"unhealthy","age":1000},{"state":"x","age":-1}]}`), 2)
	f.Add([]byte(`{}`), 0)
	e := &Exchange{asked: map[registry.ID]asking{}}
	f.Fuzz(func(t *testing.T, plain []byte, count int) {
		if count < 0 || count > maxBackends {
			return
		}
		answer, err := parseAnswer(plain, count)
		if err != nil {
			return
		}
		ids := make([]registry.ID, count)
		for i := range ids {
			ids[i].Port = uint16(i)
			e.asked[ids[i]] = asking{}
		}
		now := time.Now()
		votes := e.votesOf("b", ids, answer, now)
		if len(votes) != count {
			t.Fatalf("%d votes", len(votes))
		}
		for _, v := range votes {
			if v.At.After(now) || now.Sub(v.At) > maxAge {
				t.Errorf("%+v", v)
			}
		}
	})
}
