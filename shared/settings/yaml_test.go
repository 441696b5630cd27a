package settings // inside: it uses kind, mapping and parseYAML

import (
	"fmt"
	"strings"
	"testing"
)

// yamlTexts maps typical configurations, written by people and programs, to the result of the function written.
var yamlTexts = map[string]string{
	"":                              "null",
	"# nothing\n\n   # here\n":      "null",
	"---\na: 1\n":                   "{a:1}",
	"a: 1 # one\n\n# b\nc:\n  d: x": "{a:1 c:{d:x}}",
	"a:\n- x\n- y\nb: z\n":          "{a:[x y] b:z}",
	"a:\n  - name: x\n    n: 1\n  - name: y\n    list:\n      - p\n": "{a:[{name:x n:1} {name:y list:[p]}]}",
	"a:\nb: ~\nc: null\nd: \"null\"\n":                               "{a:null b:null c:null d:\"null\"}",
	"a: \"x: y # z\"\nb: 'p \"q\" r'\n\"c d\": 1\n":                  "{a:\"x: y # z\" b:\"p \\\"q\\\" r\" c d:1}",
	"a: [x,  # one\n  y,\n\n  z,\n]\nb: {\n  c: 1\n}\n":              "{a:[x y z] b:{c:1}}",
	"{\n  \"a\": [1, 2.5, true, null],\n  \"b\":{\"c\":\"d\"}\n}\n":  "{a:[1 2.5 true null] b:{c:\"d\"}}",
	"a: 127.0.0.1:53\nb: [10.0.0.0/8, 2001:db8::1]\n":                "{a:127.0.0.1:53 b:[10.0.0.0/8 2001:db8::1]}",
	"a: |\n  x\n  y\nb: >-\n  x\n  y\nc: one\n  two\n":               "{a:\"x\\ny\\n\" b:\"x y\" c:one two}",
	"a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n":                       "{a:{b:1} c:{b:1} d:{e:2 b:1}}",
	"&k a: &v 1\nb: *v\n*k : *k\n":                                   "{a:1 b:1 a:a}",
	"a: &l [{b: 1, c: 2}, {b: 3, d: 4}]\ne: {<<: *l, c: 5}\n":        "{a:[{b:1 c:2} {b:3 d:4}] e:{c:5 b:1 d:4}}",
	"a: {<<: &m {b: 1}, c: *m}\n":                                    "{a:{c:{b:1} b:1}}",
	"a: !!str 1\nb: !!str null\n\"<<\": x\n":                         "{a:\"1\" b:\"null\" <<:x}",
	"a: Zürich\nb: [東京, \"ñ\"]\n# ü\n":                               "{a:Zürich b:[東京 \"ñ\"]}",
	"a: 1\r\nb: 2\r\n":                                               "{a:1 b:2}",
	"a: it's\nb: x#y\nc: C:\\dir\n":                                  "{a:it's b:x#y c:C:\\dir}",
}

// written returns the value of a node on one line.
func written(n *node) string {
	var parts []string
	for i := range n.children {
		c := &n.children[i]
		if text := written(c); n.kind == mapping {
			parts = append(parts, c.key+":"+text)
		} else {
			parts = append(parts, text)
		}
	}
	switch {
	case n.isNull():
		return "null"
	case n.kind == quotedScalar:
		return fmt.Sprintf("%q", n.text)
	case n.kind == sequence:
		return "[" + strings.Join(parts, " ") + "]"
	case n.kind == mapping:
		return "{" + strings.Join(parts, " ") + "}"
	}
	return n.text
}

func TestYAML_IsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range yamlTexts {
		root, problems := parseYAML(text)
		if got := written(&root); problems != nil || got != want {
			t.Errorf("%q: got %s, want %s; problems %v", text, got, want, problems)
		}
	}
}

// A key and a value have the lines of their beginnings, even behind an alias.
func TestYAML_NodesKnowTheirLines(t *testing.T) {
	root, problems := parseYAML("a:\n  - &x\n    b: 1\n\nc: 2\nd:\n  *x\n")
	if problems != nil {
		t.Fatal(problems)
	}
	a, c, d := root.child("a"), root.child("c"), root.child("d")
	got := []int32{a.keyAt.line, a.children[0].at.line, a.children[0].child("b").at.line, c.at.line, d.keyAt.line,
		d.at.line}
	if fmt.Sprint(got) != "[1 2 3 5 6 7]" {
		t.Errorf("lines %v", got)
	}
}
