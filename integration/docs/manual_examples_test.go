package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// The examples of each role's manual, laid over each other in their order, are a configuration that its program takes.
func TestManuals_ExamplesAreAValidConfiguration(t *testing.T) {
	t.Parallel()
	b := testbed.Binaries(t)
	for path, program := range map[string]string{"../../overwatch/README.md": b.Overwatch,
		"../../agent/README.md": b.Agent} {
		text := testbed.Read(t, path)
		blocks, config := yamlBlock.FindAllStringSubmatch(text, -1), map[string]any{}
		if len(blocks) == 0 {
			t.Fatalf("%s has no example", path)
		}
		for _, block := range blocks {
			var part map[string]any
			if err := yaml.Unmarshal([]byte(fillSecrets(block[1])), &part); err != nil {
				t.Fatalf("%s: %v in\n%s", path, err, block[1])
			}
			merge(config, part)
		}
		file, err := yaml.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(t.TempDir(), "manual.yaml")
		testbed.Write(t, at, 0o600, string(file))
		if r := testbed.Command(t, program, "--config", at, "--validate"); r.Code != 0 {
			t.Errorf("%s: exit code %d\n%s\nof\n%s", path, r.Code, r.Output, file)
		}
	}
}

// fillSecrets puts secrets where a manual says so.
func fillSecrets(text string) string {
	key := strings.NewReplacer("put the gossip key here", harness.NewGossipKey(),
		"32 octets in base64, the same on all nodes", harness.NewGossipKey())
	token := regexp.MustCompile(`"(put|the) [^"]*"`)
	return token.ReplaceAllStringFunc(key.Replace(text), func(string) string { return `"` + harness.NewToken() + `"` })
}
