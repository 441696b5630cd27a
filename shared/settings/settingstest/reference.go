// Package settingstest generates the lists of configuration keys in the manuals from the struct of a configuration.
// Types, defaults, bounds and effects are from the fields and their tags, meanings from the comments above the fields.
// Tests of the config packages call it; no program links it.
package settingstest

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lists of keys instead of comparing them")

// list matches a list of keys. The marker names the keys of the list, each with all keys below it.
var list = regexp.MustCompile(`(?s)<!-- keys (.*?) -->\n.*?<!-- end of keys -->\n`)

// CheckReference compares the lists of keys in the Markdown file at path with the struct type of the value of. With the
// flag -update it writes the lists.
func CheckReference(t *testing.T, path string, of any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, of)
	lists := list.FindAllStringSubmatch(string(text), -1)
	var prefixes []string
	for _, l := range lists {
		prefixes = append(prefixes, strings.Fields(l[1])...)
	}
	byPrefix := map[string][]row{}
	for _, r := range rows {
		prefix := nearest(r.key, prefixes)
		if prefix == "" {
			t.Errorf("%s: no list has %s: name it, or a key above it, in a marker", path, r.key)
		}
		byPrefix[prefix] = append(byPrefix[prefix], r)
	}
	made := list.ReplaceAllStringFunc(string(text), func(old string) string {
		names := list.FindStringSubmatch(old)[1]
		var b strings.Builder
		b.WriteString("<!-- keys " + names + " -->\n\n")
		for _, prefix := range strings.Fields(names) {
			if len(byPrefix[prefix]) == 0 {
				t.Errorf("%s: the program has no key %s", path, prefix)
			}
			for _, r := range byPrefix[prefix] {
				b.WriteString(r.String())
			}
		}
		return b.String() + "\n<!-- end of keys -->\n"
	})
	switch {
	case *update && !t.Failed():
		if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	case made != string(text):
		t.Errorf("%s: the lists of keys are not those of the program: run this test with -update", path)
	}
}

// nearest returns the longest key in prefixes that equals the key or encloses it.
func nearest(key string, prefixes []string) (found string) {
	for _, p := range prefixes {
		below := strings.HasPrefix(key, p) && slices.Contains([]string{"", ".", "["}, (key + " ")[len(p):][:1])
		if (key == p || below) && len(p) > len(found) {
			found = p
		}
	}
	return found
}
