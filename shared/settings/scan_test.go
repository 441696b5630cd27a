package settings

import "testing"

// What the scanner must read itself: configurations as people and programs write them.
var coreTexts = map[string]string{
	"empty":                           "",
	"only a comment":                  "# nothing\n\n   # here\n",
	"document start":                  "---\na: 1\n",
	"block mapping":                   "a: 1\nb: text of some words\nc:\n  d: x\n  e:\n    f: y\n",
	"comments everywhere":             "# top\na: 1 # one\n\n# between\nb: # of b\n  # deeper\n  c: 2\n   # odd\n",
	"sequence below its key":          "a:\n  - x\n  - y\nb: z\n",
	"sequence in its key's column":    "a:\n- x\n- y\nb: z\n",
	"sequence of mappings":            "a:\n  - name: x\n    n: 1\n  - name: y\n    list:\n      - p\n      - q\n",
	"mappings in the key's column":    "a:\n- name: x\n  list:\n  - p\n- name: y\n",
	"entry on the next line":          "a:\n  -\n    x: 1\n  - \n    - p\n",
	"nothing":                         "a:\nb: ~\nc: null\nd:\n  -\n  - x\n",
	"quotes":                          "a: \"x: y # z\"\nb: 'p \"q\" r'\n\"c d\": 1\n'e': 2\nf: [\"x, y\", 'z]']\n",
	"flow":                            "a: [x, y , z]\nb: {c: 1, d: [2, {e: 3}], f: \"g\"}\nh: []\ni: {}\n",
	"flow over lines":                 "a: [x,  # one\n  y,\n\n  z,\n]\nb: {\n  c: 1,\n  d: 2\n}\n",
	"JSON":                            "{\n  \"a\": [1, 2.5, true, null],\n  \"b\":{\"c\":\"d\"}\n}\n",
	"addresses":                       "a: 127.0.0.1:53\nc: \"[::1]:53\"\nd: [10.0.0.0/8, 2001:db8::1, http://x:80/y]\ne: 2001:db8::1\n",
	"hyphens and dots":                "a: -5\nb: -x\nc: .5\nd: a - b\ne: [-1, .x]\nf: x-y.z\n",
	"hash inside":                     "a: x#y\nb: [x#y, z]\n",
	"spaces at the end":               "a: x   \nb:   \n  c: y  # z \nd : e\n",
	"no line break at the end":        "a: 1\nb: [x]",
	"not ASCII":                       "a: Zürich\nb: [東京, \"ñ\"]\n# ü\n",
	"map of names with dots":          "tokens: {app.example.com: x==, \"*.example.com\": y}\n",
	"plain scalars with odd symbols":  "a: x%y@z!~*&|>`\nb: C:\\dir\nc: it's\nd: say \"hi\"\n",
	"colon at the end of flow scalar": "a: [x:y, z]\n",
}

func TestScan_ReadsTheCoreAsTheLibraryDoes(t *testing.T) {
	for name, text := range coreTexts {
		t.Run(name, func(t *testing.T) {
			got, ok := scan(text)
			if !ok {
				t.Fatal("left to the library")
			}
			compareWithLibrary(t, text, got)
		})
	}
}

// What goes beyond the core, and what is wrong.
func TestScan_LeavesTheRestToTheLibrary(t *testing.T) {
	for _, text := range []string{
		"a: &x 1\nb: *x\n", "a: !!str 1\n", "a: |\n  text\n", "a: >-\n  text\n", "a: \"x\\ny\"\n", "a: 'it''s'\n",
		"a: one\n  two\n", "a: \"one\n  two\"\n", "? a\n: b\n", "\ta: 1\n", "a:\t1\n", "a: 1\r\nb: 2\r\n", "a: 1\n---\nb: 2\n",
		"a: 1\n...\n", "%YAML 1.2\n---\na: 1\n", "- - x\n", "a: [b: c]\n", "a: {b, c}\n", "<<: {a: 1}\n", "a: {<<: {b: 1}}\n",
		"a: b: c\n", "a: [x\n", "a: {b: 1\n", "a: x]\n  b: 1\n", "a: 1\n b: 2\n", "a:\n    b: 1\n  c: 2\n", "a: \"x\" y\n", "a: [x] y\n",
		"a: @x\n", "a: `x\n", "a\n", "a: [x,,y]\n", "\ufeffa: 1\n", "a: \x01\n", "a: \xff\n", "a: \u2028\n", "a: x\n- y\n", "- x\na: y\n", "a: :53\n", "{a: 1}\nb: 2\n",
	} {
		if got, ok := scan(text); ok {
			t.Errorf("scan(%q) = %v, want it left to the library", text, got)
		}
	}
}

func compareWithLibrary(t *testing.T, text string, scanned tree) {
	t.Helper()
	want, problems := compose(text)
	if problems != nil {
		t.Fatalf("text %q: the scanner read it, the library says: %v", text, problems)
	}
	if len(scanned.nodes) != len(want.nodes) {
		t.Fatalf("text %q: %d nodes, the library has %d\n%+v\n%+v", text, len(scanned.nodes), len(want.nodes), scanned, want)
	}
	for i := range want.nodes {
		got, want := scanned.node(i), want.node(i)
		if want.text == "" && want.kind == plainScalar {
			want.line = got.line // the library puts "nothing" where the next token is
		}
		if got != want {
			t.Fatalf("text %q: node %d is %+v, the library has %+v", text, i, got, want)
		}
	}
}

// The scanner never reads anything that the library reads otherwise or refuses.
func FuzzScan(f *testing.F) {
	for _, text := range coreTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := scan(text); ok {
			compareWithLibrary(t, text, got)
		}
	})
}
