package docs_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Every YAML example of the documents parses: fenced blocks of YAML, and indented blocks that start with a key.
func TestDocuments_YAMLBlocksParse(t *testing.T) {
	t.Parallel()
	blocks := 0
	for _, file := range readRepository(t).files {
		if path.Ext(file) != ".md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		found, faults := yamlFaults(string(text))
		blocks += found
		for _, fault := range faults {
			t.Errorf("%s:%s", file, fault)
		}
	}
	if blocks < 20 {
		t.Errorf("only %d YAML blocks", blocks)
	}
}

func TestDocuments_YAMLWithJoinedLinesIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{ // blocks, faults
		"Text.\n\n    regions:\n      - name: eu servers:\n":                        {1, 1},
		"Text.\n\n    dns: {zones: []} regions:\n      - name: eu\n":                {1, 1},
		"Text.\n\n    dns: {zones: []}\n\n    app.example.com. 30 IN A 192.0.2.1\n": {1, 0},
		"Text.\n\n    gslbctl status\n    regions: a: b\n":                          {0, 0},
		"Text.\n    regions: a: b\n":                                                {0, 0},
		"```yaml\n- name: eu servers:\n    a: b\n```\n":                             {1, 1},
		"1. Text.\n\n   ```yaml node\n   a:\n     b: c\n   ```\n":                   {1, 0},
		"```yaml\na: [\n\n    b: c: d\n```\n":                                       {1, 1},
		"```sh\n\n    a: b: c\n```\n":                                               {0, 0},
		"```yaml\na: b\n":                                                           {1, 1},
	} {
		if blocks, faults := yamlFaults(text); blocks != want[0] || len(faults) != want[1] {
			t.Errorf("%q: %d blocks, %q, want %v", text, blocks, faults, want)
		}
	}
}

// startsWithKey matches the first line of YAML in an indented block.
var startsWithKey = regexp.MustCompile(`^ {4,}(?:- )?[a-z_]+:(?: |$)`)

// yamlFaults returns the number of YAML blocks of a document and the parse errors, each with its line. A blank line
// ends an indented block.
func yamlFaults(text string) (blocks int, faults []string) {
	lines := strings.Split(text, "\n")
	check := func(from, to int) {
		blocks++
		var value any
		if err := yaml.Unmarshal([]byte(strings.Join(lines[from:to], "\n")), &value); err != nil {
			faults = append(faults, fmt.Sprintf("%d: %v in\n%s", from+1, err, strings.Join(lines[from:to], "\n")))
		}
	}
	for at := 0; at < len(lines); at++ {
		language, fenced := strings.CutPrefix(strings.TrimSpace(lines[at]), "```")
		start := at
		switch {
		case fenced:
			at++
			for at < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[at]), "```") {
				at++
			}
			if language, _, _ = strings.Cut(language, " "); language != "yaml" {
				continue
			}
			check(start+1, min(at, len(lines)))
			if at == len(lines) {
				faults = append(faults, fmt.Sprintf("%d: the block has no end", start+1))
			}
		case startsWithKey.MatchString(lines[at]) && (at == 0 || strings.TrimSpace(lines[at-1]) == ""):
			for at < len(lines) && strings.HasPrefix(lines[at], "    ") {
				at++
			}
			check(start, at)
		}
	}
	return blocks, faults
}
