package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// The examples of each role's manual, laid over each other in their order, are a configuration that its program takes.
func TestManuals_ExamplesAreAValidConfiguration(t *testing.T) {
	t.Parallel()
	b := binaries(t)
	for path, program := range map[string]string{"../overwatch/README.md": b.Overwatch, "../agent/README.md": b.Agent} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks, config := yamlBlock.FindAllStringSubmatch(string(text), -1), map[string]any{}
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
		write(t, at, 0o600, string(file))
		if r := command(t, program, "--config", at, "--validate"); r.code != 0 {
			t.Errorf("%s: exit code %d\n%s\nof\n%s", path, r.code, r.output, file)
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

// The page of the API has every operation that a node serves, and no other.
func TestManuals_HaveEveryOperation(t *testing.T) {
	s := newSite(t, 1, 0)
	s.startAll(t)
	var served []string
	for path, item := range documentOf(t, s.nodes[0]).paths {
		for method := range item {
			if method != "parameters" {
				served = append(served, strings.ToUpper(method)+" "+path)
			}
		}
	}
	const page = "../overwatch/docs/api.md"
	documented := operationsOf(t, page)
	for _, operation := range served {
		// What a page loads for itself is no operation for people.
		if !slices.Contains(documented, operation) && !strings.Contains(operation, "/api/docs/") {
			t.Errorf("%s does not have %s", page, operation)
		}
	}
	for _, operation := range documented {
		if !slices.Contains(served, operation) {
			t.Errorf("%s has %s, which is not served", page, operation)
		}
	}
}

// operationsOf reads the tables of a page: methods and paths in the first cell, such as "POST `/a`; GET, PUT `/a/{id}`, `/b`".
func operationsOf(t *testing.T, page string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z][^|]*)\|`).FindAllStringSubmatch(string(text), -1) {
		for group := range strings.SplitSeq(row[1], ";") {
			paths := regexp.MustCompile("`(/[^`?]*)[^`]*`").FindAllStringSubmatch(group, -1)
			for _, method := range regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE)\b`).FindAllString(group, -1) {
				for _, path := range paths {
					full := path[1]
					if !strings.HasPrefix(full, "/api/") {
						full = "/api/v1" + full
					}
					list = append(list, fmt.Sprintf("%s %s", method, full))
				}
			}
		}
	}
	return list
}
