package testbed

import (
	"os"
	"os/exec"
	"testing"
)

// Judge returns the path of a program that judges answers. Without it the test is skipped, and in CI fails.
func Judge(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/usr/bin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	Missing(t, name+" is not installed; .ci/run lists the package of each such program (Debian: apt-get install)")
	return ""
}

// Missing ends a test that this machine cannot run: it is skipped, and in CI fails. A newcomer needs only Go; a machine
// of CI has everything.
func Missing(t *testing.T, message string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	t.Skip(message)
}
