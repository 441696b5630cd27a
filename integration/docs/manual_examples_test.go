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

// The examples of each role's manual, merged in their order, are a valid configuration. The examples of its other pages
// contain no deprecated key.
func TestManuals_ExamplesAreAValidConfiguration(t *testing.T) {
	t.Parallel()
	b := testbed.Binaries(t)
	for path, program := range map[string]string{"../../overwatch/README.md": b.Overwatch,
		"../../agent/README.md": b.Agent} {
		pages, err := filepath.Glob(filepath.Join(filepath.Dir(path), "docs", "*.md"))
		if err != nil || len(pages) == 0 {
			t.Fatalf("there are no pages beside %s: %v", path, err)
		}
		for _, page := range append(pages, path) {
			for _, block := range yamlBlock.FindAllString(testbed.Read(t, page), -1) {
				if strings.Contains(block, "${") {
					t.Errorf("%s: nothing replaces a variable in\n%s", page, block)
				}
			}
		}
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
		merge(config, ownPlaces(t, filepath.Base(filepath.Dir(path))))
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

// The complete configuration files of agents in the manuals use a data directory that the package's service can write.
func TestManuals_AgentsWriteWhereTheirServiceMay(t *testing.T) {
	t.Parallel()
	state := regexp.MustCompile(`(?m)^StateDirectory=(.+)$`).FindStringSubmatch(
		testbed.Read(t, "../../packaging/systemd/gslb-agent.service"))
	if state == nil {
		t.Fatal("the unit has no StateDirectory")
	}
	for _, path := range []string{"../../README.md", "../../agent/README.md"} {
		files := 0
		for _, block := range yamlBlock.FindAllStringSubmatch(testbed.Read(t, path), -1) {
			var file struct {
				Mode    string `yaml:"mode"`
				DataDir string `yaml:"data_dir"`
			}
			if err := yaml.Unmarshal([]byte(block[1]), &file); err != nil {
				t.Fatalf("%s: %v in\n%s", path, err, block[1])
			}
			if file.Mode != "agent" {
				continue
			}
			files++
			if file.DataDir != "/var/lib/"+state[1] {
				t.Errorf("%s: data_dir is %q, and the service may write to /var/lib/%s only", path, file.DataDir, state[1])
			}
		}
		if files != 1 {
			t.Errorf("%s has %d whole files of an agent, want one", path, files)
		}
	}
}

// ownPlaces returns settings of a role with a directory of the test, and ports that the kernel provides. The validation
// of an example opens its ports, which another process of this machine can use.
func ownPlaces(t *testing.T, role string) map[string]any {
	t.Helper()
	const unused = "127.0.0.1:0"
	own := map[string]any{"data_dir": filepath.Join(t.TempDir(), "data")}
	if role == "overwatch" {
		merge(own, map[string]any{
			"overwatch": map[string]any{"gossip": map[string]any{"bind_address": unused}},
			"dns":       map[string]any{"listen_address": unused},
			"api":       map[string]any{"address": unused},
			"metrics":   map[string]any{"address": unused},
		})
	}
	return own
}

// fillSecrets inserts secrets at the placeholders of a manual.
func fillSecrets(text string) string {
	key := strings.NewReplacer("put the gossip key here", harness.NewGossipKey(),
		"32 octets in base64, the same on all nodes", harness.NewGossipKey())
	token := regexp.MustCompile(`"(put|the) [^"]*"`)
	return token.ReplaceAllStringFunc(key.Replace(text), func(string) string { return `"` + harness.NewToken() + `"` })
}
