package testbed

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// SourcesElsewhere copies the sources to another directory, without their history, and returns the directory.
func SourcesElsewhere(t *testing.T) string {
	t.Helper()
	top, err := harness.Workspace()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "another", "place")
	if err := os.MkdirAll(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"Makefile", "VERSION", "LICENSE", "NOTICE", "go.work", "go.work.sum", "README.md", "overwatch", "agent", "gslbctl",
		"shared", "packaging", "integration",
	} {
		RunIn(t, top, "cp", "-r", part, elsewhere)
	}
	return elsewhere
}

// Shipped are the modules of the programs. Each has a changelog.
var Shipped = []string{"overwatch", "agent", "gslbctl", "packaging/launcher"}

// GoCommand runs the go command at the top of the workspace and returns its standard output.
func GoCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	top, err := harness.Workspace()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stderr = top, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return out
}

// RunIn runs a command in a directory. A failure fails the test.
func RunIn(t *testing.T, dir string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, output)
	}
}

// Absolute returns the absolute form of a path.
func Absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
