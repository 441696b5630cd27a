package main // inside: a command has no exported functions

import (
	"strings"
	"testing"
)

func TestProseOf_IsTextOnly(t *testing.T) {
	document := "# Title\n\nText with `code said` and [a link](said.md).\n\n```\nblock said\n```\n\n    indented said\n" +
		"<!-- comment said -->\nEnd.\n"
	source := "package p // clause\n\n//go:embed said\nvar (\n\ta = \"two words\"\n\tb = `three words\nand said`\n)\n\n" +
		"// Comment with `code said`.\nfunc f() { g(said) }\n"
	for path, tc := range map[string]struct{ content, want string }{
		"a.md": {document, "# Title Text with and [a link . End."},
		"a.go": {source, "clause three words and said Comment with ."},
		"a.js": {"// said", ""},
	} {
		if found := strings.Join(strings.Fields(proseOf(path, tc.content)), " "); found != tc.want {
			t.Errorf("%s: %q, want %q", path, found, tc.want)
		}
	}
}

func TestCheckFile_FindsTermsAndPhrasesAtTheirLines(t *testing.T) {
	list, err := readRules()
	if err != nil {
		t.Fatal(err)
	}
	r := list.checkFile("a.md", "A steered\nname. The node\nis told at\nonce.\n")
	if len(r.terms) != 1 || r.terms[0].line != 1 || r.terms[0].text != "steered" || r.terms[0].advice != "load-balanced" {
		t.Errorf("terms %+v", r.terms)
	}
	if len(r.phrases) != 2 || r.phrases[0].line != 3 || r.phrases[1].text != "at once" || r.words != 9 {
		t.Errorf("phrases %+v in %d words", r.phrases, r.words)
	}
	if clean := list.checkFile("a.md", "The node answers immediately."); clean.exceeds(allowance{}) {
		t.Errorf("%+v", clean)
	}
}

func TestExceeds_ComparesWithTheLimitAndTheAllowance(t *testing.T) {
	for _, tc := range []struct {
		words, terms, phrases int
		allowed               allowance
		want                  bool
	}{
		{words: 1000, phrases: limit},
		{words: 1000, phrases: limit + 1, want: true},
		{words: 1000, phrases: limit + 1, allowed: allowance{phrases: limit + 1}},
		{words: 500, phrases: limit + 1, allowed: allowance{phrases: limit + 1}},
		{words: 500, phrases: limit + 1, allowed: allowance{phrases: limit}, want: true},
		{words: 10, phrases: fewest},
		{words: 10, phrases: fewest + 1, want: true},
		{words: 1000, terms: 1, want: true},
		{words: 1000, terms: 1, allowed: allowance{terms: 1}},
	} {
		r := report{words: tc.words, terms: make([]hit, tc.terms), phrases: make([]hit, tc.phrases)}
		if r.exceeds(tc.allowed) != tc.want {
			t.Errorf("%+v: %t", tc, !tc.want)
		}
	}
}

func TestShrink_OnlyLowersValues(t *testing.T) {
	reports := []report{
		{path: "better", words: 1000, phrases: make([]hit, 20)},
		{path: "worse", words: 1000, terms: make([]hit, 3), phrases: make([]hit, 40)},
		{path: "good", words: 1000}, {path: "new", words: 1000, phrases: make([]hit, 50)},
	}
	old := map[string]allowance{"better": {phrases: 30}, "worse": {1, 30}, "good": {2, 30}, "removed": {1, 1}}
	found := shrink(old, reports)
	want := map[string]allowance{"better": {phrases: 20}, "worse": {1, 30}}
	if len(found) != len(want) || found["better"] != want["better"] || found["worse"] != want["worse"] {
		t.Errorf("%+v, want %+v", found, want)
	}
}

func TestParseRules_RejectsALineWithoutAdvice(t *testing.T) {
	for _, line := range []string{"word", "word|", "|advice", "(|advice"} {
		if _, err := parseRules("list", "# comment\n"+line); err == nil || !strings.Contains(err.Error(), "list:2") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestAllowed_SurvivesWriting(t *testing.T) {
	path := t.TempDir() + "/allowed.txt"
	if list, err := readAllowed(path); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	if err := writeAllowed(path, map[string]allowance{"a.md": {1, 20}}); err != nil {
		t.Fatal(err)
	}
	if list, err := readAllowed(path); err != nil || list["a.md"] != (allowance{1, 20}) {
		t.Error(list, err)
	}
}
