package screen

import (
	"slices"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/render"
)

func TestDecode_KeysOfTerminals(t *testing.T) {
	for typed, want := range map[string][]Event{
		"":                     nil,
		"q":                    {Quit},
		"\x03":                 {Quit},
		"\x1b":                 nil,
		"\x1b[A\x1b[B":         {Up, Down},
		"\x1bOC\x1bOD":         {Right, Left},
		"\x1b[5~\x1b[6~":       {PageUp, PageDown},
		"\x1b[1;5A":            nil, // Ctrl and an arrow: its A is no key
		"\x1b[1;5Aq":           {Quit},
		"\x1b[":                nil,
		"\x1b[200~qq\x1b[201~": {Quit, Quit},
		"\x1bq":                nil, // Alt and q
		"xyz\t12r":             {Next, First, Second, Refresh},
		"\xc3\xa4":             nil,
	} {
		if got := decode([]byte(typed)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", typed, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x1b[A\x1b[1;5Aq\x1bO"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		if got := decode(typed); len(got) > len(typed) {
			t.Errorf("%d events in %d bytes", len(got), len(typed))
		}
	})
}

func TestCut_ShowsAWindowOfTheLine(t *testing.T) {
	const red = "\x1b[31m"
	for _, tc := range []struct {
		line        string
		from, width int
		want        string
	}{
		{"abcdef", 0, 3, "abc"},
		{"abcdef", 2, 3, "cde"},
		{"abcdef", 9, 3, ""},
		{"äöü", 1, 1, "ö"},
		{red + "abc" + reset + "def", 0, 4, red + "abc" + reset + "d"},
		{red + "abc", 0, 2, red + "ab" + reset},
		{red + "abc" + reset + "def", 4, 2, red + reset + "ef"},
		{"a\x1b[2Jb", 0, 9, "a\x1b[2Jb"},
		{"東京です", 0, 4, "東京"},
		{"東京です", 2, 4, "京で"},
		{"東京です", 1, 4, " 京 "},
		{"東京です", 1, 1, " "},
		{"a👍b", 0, 3, "a👍"},
		{"a👍b", 0, 2, "a "},
		{"cafe\u0301s", 0, 4, "cafe\u0301"},
		{"cafe\u0301s", 0, 3, "caf"},
		{"cafe\u0301s", 3, 2, "e\u0301s"},
		{"cafe\u0301s", 4, 2, "s"},
		{"\u0301s", 0, 2, "s"},
	} {
		if got := Cut(tc.line, tc.from, tc.width); got != tc.want {
			t.Errorf("%q from %d, %d wide: %q, want %q", tc.line, tc.from, tc.width, got, tc.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("\x1b[31mabc\x1b[0mdef", 2, 3)
	f.Fuzz(func(t *testing.T, line string, from, width int) {
		if from < 0 || width < 0 || from > 1000 || width > 1000 || strings.Contains(line, "\x1b") {
			t.Skip()
		}
		got := Cut(line, from, width)
		if want := min(width, max(render.Width(line)-from, 0)); render.Width(got) != want {
			t.Errorf("%q is %d columns wide, want %d", got, render.Width(got), want)
		}
	})
}
