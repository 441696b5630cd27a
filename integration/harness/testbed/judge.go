package testbed

import (
	"os"
	"os/exec"
	"testing"
)

// Judge returns the path of a program that validates answers. If it is missing, the test is skipped, or fails in CI.
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

// Missing ends a test that this machine cannot run: the test is skipped, or fails in CI. A new developer needs only Go;
// CI machines have all requirements.
func Missing(t *testing.T, message string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	t.Skip(message)
}
