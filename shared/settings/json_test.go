package settings // inside: it uses node and parseJSON

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var jsonTexts = []string{
	"{}", "[]", "1", "\"x\"", "null", "{\"a\": [1, -2.5e3, true, false, null], \"b\":{\"c\":\"d\"}}", "{\"a\": 1, " +
		"\"a\": 2}",
	"{\n\t\"a\" :\r\n [ { } , [ ] ]\n}", "{\"\\u00fc\": \"\\\"\\/\\ud83d\\ude00\"}", "{\"a\": \"null\"}", " [1 , 2]\n\n",
}

// Lists in JSON files are joined with values in YAML files.
func TestJSON_IsJoinedWithYAML(t *testing.T) {
	got, problems := load(t, map[string]string{
		"main.yaml": "mode: test\nincludes: [sites.json, empty.json]\nserver: {name: a}\nsites: [one]\n",
		"sites.json": `{"sites": [{"name": "two", "address": "192.0.2.1", "port": 80, "height": 1.5, "check": {"type": "x"}}, "three"],
			"server": {"enabled": true, "count": 3, "key": "s3cret", "interval": "5s", "policies": {"a.b": {"networks": ["10.0.0.0/8"]}}}}`,
		"empty.json": "\ufeff{}", // with a byte order mark
	})
	if problems != nil {
		t.Fatal(problems)
	}
	var names []string
	for _, s := range got.Sites {
		names = append(names, s.Name)
	}
	two := got.Sites[1]
	if !slices.Equal(names, []string{"one", "two", "three"}) || two.Port != 80 || *two.Height != 1.5 ||
		two.Check.Type != "x" || two.Weight != 100 {
		t.Errorf("sites %q, the second %+v", names, two)
	}
	if s := got.Server; s.Name != "a" || !s.Enabled || s.Count != 3 || s.Key != "s3cret" ||
		len(s.Policies["a.b"].Networks) != 1 {
		t.Errorf("server %+v", s)
	}
}

// Problems in JSON also have a column, because programs may write JSON on a single line.
func TestJSON_ProblemsNameLineAndColumn(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", `{"sites": [{"nam": "x"}]}`,
			[]string{`x.json:1:13: sites[0].nam: unknown key; did you mean sites[0].name?`}},
		{"value", "{\"sites\": [\n {\"name\": \"x\",\n  \"port\": \"y\"}]}",
			[]string{`x.json:3:11: sites[0].port: "y": give a port from 1 to 65535`}},
		{"key twice", `{"sites": [{"name": "x", "name": "y"}]}`,
			[]string{`x.json:1:26: sites[0].name: is already set in line 1: keep one`}},
		{"entry twice", "{\"server\": {\"policies\": {\"a\": {},\n\"a\": {}}}}",
			[]string{`x.json:2:1: server.policies["a"]: is already set at x.json:1:26: keep one`}},
		{"set in YAML too", `{"mode": "test"}`, []string{`x.json:1:10: mode: is already set at main.yaml:1: keep one`}},
		{"in order", `{"sites": [{"port": 0}, {"port": 0}], "allowed": 1}`, []string{
			`x.json:1:21: sites[0].port: "0": give a port from 1 to 65535`,
			`x.json:1:34: sites[1].port: "0": give a port from 1 to 65535`,
			`x.json:1:50: allowed: expected a list, found a single value`}},
		{"not a map", "\n []", []string{`x.json:2:2: expected keys with values, such as mode: overwatch, found a list`}},
		{"missing comma", "{\"server\":\n {\"name\": \"x\" \"count\": 1}}",
			[]string{`x.json:2:15: not valid JSON: invalid character '"' after object key:value pair`}},
		{"comment", "{}\n// x\n", []string{`x.json:2:1: something stands behind the last closing bracket: remove it`}},
		{"YAML", "sites: []\n", []string{`x.json:1:1: not valid JSON: invalid character 's' looking for beginning of value`}},
		{"not to its end", "{\"sites\": [\n", []string{
			`x.json:2:1: not valid JSON: the file ends before its last bracket or quote is closed`}},
		{"empty", "", []string{`x.json:1:1: not valid JSON: the file ends before its last bracket or quote is closed`}},
		{"not UTF-8", "{\n\"a\": \"\xff\"}", []string{
			`x.json:2: not valid JSON: this line is not text in UTF-8: save the file as UTF-8`}},
		{"deep", strings.Repeat("[", 70) + strings.Repeat("]", 70), []string{`x.json:1:67: nested more than 64 deep`}},
		{"include", `{"includes": ["none.json"]}`, []string{`x.json:1:15: includes: "none.json": cannot be read: ` +
			`no such file or directory: create the file, or write a pattern such as conf.d/*.yaml if it may be missing`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := load(t, map[string]string{"main.yaml": "mode: test\nincludes: [x.json]\n", "x.json": tt.text})
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// A file of tokens may be JSON by its name. A file with a secret must not be open to others.
func TestJSON_HoldsSecrets(t *testing.T) {
	got, problems := load(t, map[string]string{
		"main.yaml":   "mode: test\nserver: {tokens_file: tokens.json}\n",
		"tokens.json": `{"App.example.com": "one", "b.c": "two"}`,
	})
	if problems != nil || got.Server.Tokens["App.example.com"] != "one" || got.Server.Tokens["b.c"] != "two" {
		t.Errorf("%d tokens, problems %q", len(got.Server.Tokens), problems)
	}
	_, problems = load(t, map[string]string{
		"main.yaml": "mode: test\nserver: {tokens_file: tokens.json}\n", "tokens.json": "{\n\"a\": abcdef}",
	})
	if want := `tokens.json:2:6: server.tokens: not valid JSON; expected a map such as {"app.example.com": "token"}`; len(
		problems) != 1 || problems[0] != want {
		t.Errorf("got %q, want %q", problems, want)
	}
}

// The parser reads all valid JSON, with the values of encoding/json, and each value is at its recorded position.
func FuzzJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, problems := parseJSON(text)
		if len(problems) == 1 && strings.Contains(problems[0].Message, "nested more than") {
			return
		}
		if valid := json.Valid([]byte(text)) && utf8.ValidString(text); valid != (problems == nil) {
			t.Fatalf("%q: valid %t, problems %v", text, valid, problems)
		}
		if problems == nil {
			checkSpots(t, strings.Split(text, "\n"), &root)
		}
	})
}

// checkSpots checks the recorded position of every node of a text.
func checkSpots(t *testing.T, lines []string, n *node) {
	t.Helper()
	rest := lines[n.at.line-1][n.at.column-1:]
	want := n.text
	switch n.kind {
	case sequence:
		want = "["
	case mapping:
		want = "{"
	case quotedScalar:
		want = `"`
	case plainScalar:
		if n.isNull() {
			want = "null"
		}
	}
	if !strings.HasPrefix(rest, want) {
		t.Errorf("%q: at %v stands %.20q, want %q", lines, n.at, rest, want)
	}
	for i := range n.children {
		c := &n.children[i]
		if key := lines[c.keyAt.line-1][c.keyAt.column-1:]; n.kind == mapping && key[0] != '"' {
			t.Errorf("%q: at %v stands %.20q, want a key", lines, c.keyAt, key)
		}
		checkSpots(t, lines, c)
	}
}
