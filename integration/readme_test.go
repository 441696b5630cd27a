package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// The configurations that the README shows are valid once a reader has put secrets in.
func TestReadme_ConfigurationsValidate(t *testing.T) {
	b, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n# (overwatch|agent)\\.yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("the README shows %d configurations, want one for each role", len(blocks))
	}
	dir := t.TempDir()
	fill := strings.NewReplacer(
		"put the token here", harness.NewToken(), "put the gossip key here", harness.NewGossipKey(),
		// A test may use neither these ports nor these directories.
		":53\"", "127.0.0.1:0\"", "0.0.0.0:7946", "127.0.0.1:0", "/var/lib/", dir+"/",
		"{enabled: true}        # on", "{enabled: true, address: 127.0.0.1:0} # on", "{enabled: true}    # on", "{enabled: true, address: 127.0.0.1:0} # on",
	)
	for _, block := range blocks {
		role, config := block[1], fill.Replace(block[2])
		path := filepath.Join(dir, role+".yaml")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		program := map[string]string{"overwatch": b.Overwatch, "agent": b.Agent}[role]
		if out, err := exec.CommandContext(t.Context(), program, "--config", path, "--validate").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", role, err, out)
		}
	}
}
