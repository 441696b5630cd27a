package settings

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// compareOnCores reads a text on one core and on several, in chunks of a single element and of more, and wants the same of each.
func compareOnCores(t *testing.T, text string) {
	t.Helper()
	report, doc, s := decodeIn(text, 1, perChunk)
	for _, perChunk := range []int{1, 2, 7} {
		again, docAgain, sAgain := decodeIn(text, 3, perChunk)
		for _, same := range []struct {
			of        string
			got, want any
		}{
			{"problems", again.problems, report.problems}, {"problems more", again.more, report.more}, {"keys told", again.told, report.told},
			{"keys given", again.given, report.given}, {"the first secret", docAgain.secret, doc.secret}, {"what is read", sAgain, s},
		} {
			if !reflect.DeepEqual(same.got, same.want) {
				t.Errorf("text %.200q in chunks of %d: %s: %+v, on one core %+v", text, perChunk, same.of, same.got, same.want)
			}
		}
	}
}

func TestDecode_OnSeveralCoresFindsTheSame(t *testing.T) {
	sites := func(entry func(i int) string, count int) string {
		var b strings.Builder
		b.WriteString("mode: test\nserver: {name: a, old_keys: [x, {}, y], tokens: {a: b}}\nallowed: [p, q, [r], s, ~, {}, t]\nsites:\n")
		for i := range count {
			b.WriteString("- " + entry(i) + "\n")
		}
		return b.String() + "listen: x\nlisten: [y]\n"
	}
	for name, text := range map[string]string{
		"nothing wrong": sites(func(i int) string { return fmt.Sprintf("{name: n%d, port: %d, height: 1.5, check: {type: x}}", i, i+1) }, 300),
		"some wrong":    sites(func(i int) string { return fmt.Sprintf("{name: n%d, port: %d, weight: 1}", i, i%97) }, 300),
		"all wrong":     sites(func(i int) string { return fmt.Sprintf("{nam: n%d, port: x, port: 2, check: [], address: y}", i) }, 300),
		"of every kind": sites(func(i int) string { return []string{"{name: x}", "", "just a name", "[a]", "{x: {y: z}}", "~"}[i%6] }, 250),
		"order of keys": sites(func(i int) string {
			return []string{"{name: x, port: 1, weight: 2}", "{weight: 3, name: y}", "{port: 7}"}[i*i%3]
		}, 250),
		"one entry":         sites(func(int) string { return "{port: 0}" }, 1),
		"none":              "sites: []\nallowed: []\n",
		"read by a library": sites(func(i int) string { return fmt.Sprintf("{name: \"n\\x%02x\", port: %d}", i%128, i%3) }, 250),
	} {
		t.Run(name, func(t *testing.T) { compareOnCores(t, text) })
	}
}

// The first secret of a file is where the file's mode is told to be wrong: which it is does not depend on who reads it first.
func TestDecode_FirstSecretIsThatOfTheFirstElement(t *testing.T) {
	var text strings.Builder
	text.WriteString("groups:\n")
	for i := range 1000 {
		if i < 300 {
			text.WriteString("- {name: a}\n")
		} else {
			text.WriteString("- {token: b}\n")
		}
	}
	var into struct {
		Groups []struct {
			Name  string `key:"name"`
			Token Secret `key:"token"`
		} `key:"groups"`
	}
	parsed, problems := parse(text.String())
	if problems != nil {
		t.Fatal(problems)
	}
	doc := &document{tree: parsed, path: "x"}
	d := newDecoder(&Report{documents: []*document{doc}, given: map[string]Position{}}, 4)
	d.perChunk = 3
	d.decode(doc, reflect.ValueOf(&into).Elem())
	if want := (Problem{File: "x", Line: 302, Key: "groups[300].token"}); doc.secret != want || len(d.report.problems) != 0 {
		t.Errorf("the first secret is %+v, want %+v; %v", doc.secret, want, d.report.problems)
	}
}
