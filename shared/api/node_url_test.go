package api_test

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

func TestParseNode_TakesWhatPeopleWrite(t *testing.T) {
	for text, want := range map[string]string{
		"node1":                    "http://node1:8080",
		"node1:9090":               "http://node1:9090",
		"node1/gslb":               "http://node1/gslb",
		"192.0.2.1":                "http://192.0.2.1:8080",
		"192.0.2.1:80":             "http://192.0.2.1:80",
		"2001:db8::1":              "http://[2001:db8::1]:8080",
		"[2001:db8::1]":            "http://[2001:db8::1]:8080",
		"[2001:db8::1]:9090":       "http://[2001:db8::1]:9090",
		"fe80::1%eth0":             "http://[fe80::1%25eth0]:8080",
		"http://node1":             "http://node1",
		"https://node1:8443/gslb/": "https://node1:8443/gslb",
	} {
		got, err := api.ParseNode(text)
		if err != nil || got != want {
			t.Errorf("ParseNode(%q) = %q, %v; want %q", text, got, err, want)
			continue
		}
		if again, err := api.ParseNode(got); err != nil || again != got {
			t.Errorf("ParseNode(%q) = %q, %v: not stable", got, again, err)
		}
	}
}

func TestParseNode_SaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "is empty",
		"ftp://node1":       `the scheme is "ftp"`,
		"http://":           "names no host",
		"http://me@node1":   "a user name",
		"http://node1?x=1":  "a query",
		"http://node1:port": "give host:port",
		"http://[::1":       "give host:port",
	} {
		if got, err := api.ParseNode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseNode(%q) = %q, %v; want an error with %q", text, got, err, want)
		}
	}
}
