// The package is a command, so its tests are inside it.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The formula has the URL and the checksum of each archive, balanced blocks, and the syntax of Ruby.
func TestFormula_NamesTheArchives(t *testing.T) {
	t.Chdir("../..")
	r := &release{out: t.TempDir(), version: "1.0.0-rc.1"}
	if err := r.formula(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.out, formulaFile)
	if _, err := os.Stat(path); err == nil {
		t.Fatal("there is a formula without archives")
	}
	var archives []string
	for _, platform := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		name := "gslbctl_1.0.0-rc.1_" + platform + ".tar.gz"
		archives = append(archives, name)
		if err := os.WriteFile(filepath.Join(r.out, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.formula(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archives {
		pair := fmt.Sprintf("url \"%s/releases/download/v1.0.0-rc.1/%s\"\n      sha256 \"%x\"\n", homepage, name,
			sha256.Sum256([]byte(name)))
		if !strings.Contains(string(text), pair) {
			t.Errorf("the formula lacks %s", pair)
		}
	}
	opened := len(regexp.MustCompile(`(?m)^(class|  def)\b| do$`).FindAll(text, -1))
	if closed := strings.Count(string(text), "end\n"); opened != closed || strings.Contains(string(text), "{{") {
		t.Errorf("%d blocks begin and %d end in\n%s", opened, closed, text)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if output, err := exec.CommandContext(t.Context(), ruby, "-c", path).CombinedOutput(); err != nil {
			t.Errorf("ruby -c: %v\n%s", err, output)
		}
	}
}
