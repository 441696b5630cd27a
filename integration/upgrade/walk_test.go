package upgrade_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// The test runs each command of the section "Install from packages" of README.md, from packages to an answer, on a
// machine with a real systemd. The script testdata/package/walk.sh prepares and checks the steps.
func TestPackages_TheWalkOfTheREADME(t *testing.T) {
	nspawn := container(t)
	root := layered(t)
	place := filepath.Join(root, "test")
	if err := os.MkdirAll(filepath.Join(place, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"gslb-overwatch", "gslb-agent", "gslbctl"} {
		copyInto(t, packageOf(t, program, firstVersion, "*.deb"), filepath.Join(place, "dist"))
	}
	b := testbed.Binaries(t)
	copyFile(t, b.Backend, filepath.Join(place, "backend"), 0o755)
	testbed.Write(t, filepath.Join(place, "commands"), 0o644, walkOfReadme(t))
	boot(t, nspawn, root, "walk.sh", 4*time.Minute)
}

// walkOfReadme returns the commands of the section "Install from packages" of README.md, one per line, without make
// dist, because the test builds the packages beforehand.
func walkOfReadme(t *testing.T) string {
	t.Helper()
	text := testbed.Read(t, "../../README.md")
	_, section, found := strings.Cut(text, "\n## Install from packages\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("README.md has no section Install from packages")
	}
	var commands []string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    "); ok && !strings.HasPrefix(command, "make dist") {
			commands = append(commands, command)
		}
	}
	if len(commands) < 8 {
		t.Fatalf("the section has only the commands %q", commands)
	}
	return strings.Join(commands, "")
}
