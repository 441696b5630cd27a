package settings

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestMode_IsReadBeforeAnythingElse(t *testing.T) {
	tests := []struct{ name, text, want, problem string }{
		{"first", "mode: agent\n", "agent", ""},
		{"among what is wrong", "nonsense: [1]\nmode: 'overwatch'\n", "overwatch", ""},
		{"missing", "data_dir: /x\n", "", "main.yaml: mode: is missing: use mode: overwatch or mode: agent"},
		{"nothing", "mode:\n", "", "main.yaml: mode: is missing: use mode: overwatch or mode: agent"},
		{"empty file", "", "", "main.yaml: mode: is missing: use mode: overwatch or mode: agent"},
		{"unknown", "a: 1\nmode: observer\n", "", `main.yaml:2: mode: "observer": no such mode: use mode: overwatch or mode: agent`},
		{"a list", "mode: [agent]\n", "", `main.yaml:1: mode: no such mode: use mode: overwatch or mode: agent`},
		{"not YAML", "mode: agent\n x\ty: [\n", "", "main.yaml:2: not valid YAML: mapping values are not allowed in this context"},
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
