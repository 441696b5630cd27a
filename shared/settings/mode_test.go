package settings // inside: it uses modeKey, modeOf and parseYAML

import (
	"path/filepath"
	"slices"
	"testing"
)

// For every length of the head, the mode from the head of a text is "" or the mode of the whole text.
func FuzzModeOf(f *testing.F) {
	for _, text := range yamlTexts {
		f.Add("mode: x\n"+text, 5)
		f.Add("# a\nmode: 'x'\nb: "+text, 9)
	}
	for _, text := range []string{"mode: x\n\r y\n", "mode:\n>\n x\n", "mode: x\n\ty\n", "mode: x\n\u2028 y\nz: 1\n"} {
		f.Add(text, len(text))
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if len(text) > 1<<12 {
			return
		}
		mode := modeOf(text[:min(max(cut, 0), len(text))])
		if mode == "" {
			return
		}
		whole, problems := parseYAML(text)
		if problems != nil {
			return
		}
		if n := whole.child(modeKey); n == nil || n.text != mode {
			t.Errorf("text %q, cut off at %d: the mode is %q, and not so in %+v", text, cut, mode, whole)
		}
	})
}

func TestMode_IsReadBeforeAnythingElse(t *testing.T) {
	tests := []struct{ name, text, want, problem string }{
		{"first", "mode: agent\n", "agent", ""},
		{"among what is wrong", "nonsense: [1]\nmode: 'overwatch'\n", "overwatch", ""},
		{"missing", "data_dir: /x\n", "", "main.yaml: mode: is missing: use mode: overwatch or mode: agent"},
		{"nothing", "mode:\n", "", "main.yaml: mode: is missing: use mode: overwatch or mode: agent"},
		{"empty file", "", "", "main.yaml: mode: is missing: use mode: overwatch or mode: agent"},
		{"unknown", "a: 1\nmode: observer\n", "",
			`main.yaml:2: mode: "observer": no such mode: use mode: overwatch or mode: agent`},
		{"a list", "mode: [agent]\n", "", `main.yaml:1: mode: no such mode: use mode: overwatch or mode: agent`},
		{"behind comments, before what is not YAML", "# This\n\n# file\nmode: agent # says\na: [\n", "agent", ""},
		{"twice", "mode: agent\nmode: overwatch\n", "agent", ""},
		{"over two lines", "mode: agent\n  overwatch\na: 1\n", "",
			`main.yaml:1: mode: "agent overwatch": no such mode: use mode: overwatch or mode: agent`},
		{"an alias", "mode: &a agent\nb: *a\n", "agent", ""},
		{"not YAML", "mode: agent\n x\ty: [\n", "", "main.yaml:2: not valid YAML: mapping values are not allowed in " +
			"this context"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "main.yaml")
			write(t, path, tt.text, 0o644)
			got, err := Mode(path, []string{"overwatch", "agent"})
			if tt.problem != "" {
				if problems := lines(filepath.Dir(path), err); !slices.Equal(problems, []string{tt.problem}) {
					t.Errorf("got %q, want %q", problems, tt.problem)
				}
			} else if got != tt.want || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
