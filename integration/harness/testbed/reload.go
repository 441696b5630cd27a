package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
)

// ReloadBound is the promised time of a reload.
const ReloadBound = 5 * time.Second

// Rewrite atomically replaces a node's configuration file with File.
func Rewrite(t *testing.T, n *harness.Node) {
	t.Helper()
	text, err := yaml.Marshal(n.File)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(n.Path+".new", text, 0o600), os.Rename(n.Path+".new", n.Path)); err != nil {
		t.Fatal(err)
	}
}

// HangUp sends SIGHUP and waits until the node has logged the success or failure of the reload.
func HangUp(t *testing.T, n *harness.Node) {
	t.Helper()
	before := Reloads(t, n.Unit)
	Signal(t, n, syscall.SIGHUP)
	Until(t, ReloadBound, "the reload to be told", func(context.Context) error {
		if now := Reloads(t, n.Unit); now <= before {
			return fmt.Errorf("%d reloads so far", now)
		}
		return nil
	})
}

// Reloads returns the number of reloads in a program's log, successful or failed, over all its starts.
func Reloads(t *testing.T, u *harness.Unit) int {
	t.Helper()
	return strings.Count(Read(t, u.Log), "reloaded")
}

// Read returns the content of a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Write writes a file with a mode, regardless of the umask.
func Write(t *testing.T, path string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // regardless of the umask
		t.Fatal(err)
	}
}
