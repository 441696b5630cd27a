package docs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// The configurations in the README are valid after the insertion of secrets: a node, an agent, and the node with the
// additional block.
func TestReadme_ConfigurationsValidate(t *testing.T) {
	b := testbed.Binaries(t)
	text := testbed.Read(t, "../../README.md")
	blocks := regexp.MustCompile("(?s)```yaml\n# (added to )?(overwatch|agent)\\.yaml\n(.*?)```").
		FindAllStringSubmatch(text, -1)
	if len(blocks) != 3 || strings.Count(text, "```yaml") != 3 || blocks[2][1] == "" {
		t.Fatalf("the README shows %d configurations, want a node, an agent, and a block added to the node", len(blocks))
	}
	if !strings.Contains(blocks[2][3], "key_sync:") {
		t.Errorf("the added block does not exchange keys:\n%s", blocks[2][3])
	}
	dir := t.TempDir()
	fill := strings.NewReplacer(
		"put the token here", harness.NewToken(), "put the gossip key here", harness.NewGossipKey(),
		"put another secret here", harness.NewToken(),
	)
	configs := map[string]map[string]any{"overwatch": {}, "agent": {}}
	for _, block := range blocks {
		role := block[2]
		var part map[string]any
		if err := yaml.Unmarshal([]byte(fill.Replace(block[3])), &part); err != nil {
			t.Fatalf("%v in\n%s", err, block[3])
		}
		merge(configs[role], part)
		merge(configs[role], ownPlaces(t, role))
		config, err := yaml.Marshal(configs[role])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, role+".yaml")
		testbed.Write(t, path, 0o600, string(config))
		program := map[string]string{"overwatch": b.Overwatch, "agent": b.Agent}[role]
		if out, err := exec.CommandContext(t.Context(), program, "--config", path,
			"--validate").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", role, err, out)
		}
	}
}

// Every test that the pages of this module name exists. "..." or "*" can end a name.
func TestReadme_NamedTestsAreThere(t *testing.T) {
	pages := testbed.Read(t, "../README.md") + testbed.Read(t, "../coverage.md")
	var tests []string
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			tests = append(tests, string(found[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`Test[A-Z]\w*`).FindAllString(pages, -1)
	for _, name := range named {
		if !slices.ContainsFunc(tests, func(test string) bool { return strings.HasPrefix(test, name) }) {
			t.Errorf("a page names %s, which does not exist", name)
		}
	}
	if len(named) < 50 {
		t.Errorf("the pages name %d tests", len(named))
	}
}
