package settings // inside: it looks at name and path

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func loadTestdata(t *testing.T, path string) (sample, []string) {
	t.Helper()
	var s sample
	err := Load(filepath.Join("testdata", "includes", path), &s, Options{Mode: "test"})
	here, wdErr := os.Getwd()
	if wdErr != nil {
		t.Fatal(wdErr)
	}
	text := ""
	if err != nil {
		text = strings.NewReplacer(here+"/", "", "testdata/includes/", "").Replace(err.Error())
		text = withoutColumns(text)
	}
	return s, strings.Split(text, "\n")
}

func TestIncludes_JoinListsAndMapsInOrder(t *testing.T) {
	got, problems := loadTestdata(t, "main.yaml")
	if problems[0] != "" {
		t.Fatal(problems)
	}
	want := sample{
		Mode:   "test",
		Server: server{Name: "main", Count: 1, Policies: map[string]policy{"b": {}}},
		Sites: []site{{Name: "main", Weight: 100}, {Name: "first", Weight: 100}, {Name: "deep", Weight: 100},
			{Name: "second", Weight: 100}},
		Allowed: []string{"a", "b"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestIncludes_TellWhatIsWrong(t *testing.T) {
	tests := []struct {
		name, path string
		want       []string
	}{
		{"cycle", "cycle/a.yaml", []string{
			`cycle/c.yaml:2: includes: the files include one another in a cycle: cycle/a.yaml -> cycle/b.yaml -> ` +
				`cycle/c.yaml -> cycle/a.yaml`,
			`cycle/c.yaml:2: includes: the files include one another in a cycle: cycle/b.yaml -> cycle/c.yaml -> cycle/b.yaml`,
			`cycle/c.yaml:2: includes: the files include one another in a cycle: cycle/c.yaml -> cycle/c.yaml`,
		}},
		{"twice", "twice/main.yml", []string{
			`twice/main.yml:2: includes: twice/x.yaml is already included at twice/main.yml:2: keep one`,
		}},
		{"missing, no pattern, no text", "merge/main.yaml", []string{
			`merge/main.yaml:2: includes: "none.yaml": cannot be read: no such file or directory: create the file, or write ` +
				`a pattern such as conf.d/*.yaml if it may be missing`,
			`merge/main.yaml:2: includes: "[": not a pattern: close each [ with a ]`,
			`merge/main.yaml:2: includes: expected the path or pattern of a file, found a map of keys`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := loadTestdata(t, tt.path); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// Two files may not set the same key, so that the order of a pattern's matches has no effect.
func TestIncludes_KeySetInTwoFilesIsRefused(t *testing.T) {
	_, got := load(t, map[string]string{
		"main.yaml": "mode: test\nincludes: [b.yaml]\nserver:\n  name: a\n  policies: {one: {}}\n",
		"b.yaml":    "server:\n  name: a\n  policies: {one: {}}\n",
	})
	want := []string{
		`b.yaml:2: server.name: is already set at main.yaml:4: keep one`,
		`b.yaml:3: server.policies["one"]: is already set at main.yaml:5: keep one`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The index of an element counts the elements of all files, and its line is the line in its own file.
func TestIncludes_ProblemsNameTheFileTheyAreIn(t *testing.T) {
	_, got := load(t, map[string]string{
		"main.yaml": "mode: test\nincludes: [b.yaml, c.yaml]\nsites: [one, two]\n",
		"b.yaml":    "sites:\n- {name: three}\n- {port: x}\n",
		"c.yaml":    "includes: nothing\nsites: [{port: y}]\n",
	})
	want := []string{`c.yaml:1: includes: expected a list of paths or patterns, found a single value`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, got = load(t, map[string]string{
		"main.yaml": "mode: test\nincludes: [b.yaml, c.yaml]\nsites: [one, two]\n",
		"b.yaml":    "sites:\n- {name: three}\n- {port: x}\n",
		"c.yaml":    "sites: [{port: y}]\n",
	})
	want = []string{
		`b.yaml:3: sites[3].port: "x": give a port from 1 to 65535`,
		`c.yaml:1: sites[4].port: "y": give a port from 1 to 65535`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The problem of an entry without a file has the position of the entry. The problem of an unreadable file has its own
// name and line.
func TestIncludes_UnusableFilesAreToldWithTheirPlace(t *testing.T) {
	_, got := load(t, map[string]string{
		"main.yaml":   "mode: test\nincludes:\n- conf\n- utf8.yaml\n",
		"conf/a.yaml": "",
		"utf8.yaml":   "# fine\nserver:\n  name: \"\xff\"\n",
	})
	want := []string{
		`main.yaml:3: includes: conf is a directory: give a regular file`,
		`utf8.yaml:3: not valid YAML: this line is not text in UTF-8: save the file as UTF-8`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, got = load(t, map[string]string{"main.yaml": "mode: test\ninclude: [b.yaml]\n"}); len(got) != 1 ||
		got[0] != "main.yaml:2: include: unknown key; did you mean includes?" {
		t.Errorf("got %q", got)
	}
}

// Each syntax problem has the line of the mistake.
func TestSyntax_IsToldWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"mode: test\n\nserver: {name: \"a\xc3\"}\nsites: []\n": "main.yaml:3: not valid YAML: " +
			"this line is not text in UTF-8: save the file as UTF-8",
		"mode: test\n# \xff\n": "main.yaml:2: not valid YAML: " +
			"this line is not text in UTF-8: save the file as UTF-8",
		"mode: test\n\nserver:\n  name: \"a\x01\"\n": "main.yaml:4: not valid YAML: " +
			"this line has a control character: remove it",
		"mode: test\n\nsites: " + strings.Repeat("[", 300) + strings.Repeat("]",
			300): "main.yaml:3: nested more than 64 deep",
		"mode: test\n\nsites: " + strings.Repeat("[", 11000) + strings.Repeat("]",
			300): "main.yaml:3: not valid YAML: nested more than 64 deep",
	} {
		if _, got := load(t, map[string]string{"main.yaml": text}); len(got) != 1 || got[0] != want {
			t.Errorf("%.40q: got %q, want %s", text, got, want)
		}
	}
}
