package integration_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// commandBound is how long a program may take to say what is wrong and end.
const commandBound = 15 * time.Second

// The exit codes that every program keeps to.
const (
	exitOK       = 0
	exitFailure  = 1
	exitBadInput = 2
)

// result is what a program that ended by itself did.
type result struct {
	code   int
	output string // both streams
	cpu    time.Duration
}

// command runs a program to its end.
func command(t *testing.T, argv ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandBound+patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{runMark + "=" + os.Getenv(runMark), "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	cmd.WaitDelay = patience // a machine may stand still between its end and its last line
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s did not end within %s; it said:\n%s", strings.Join(argv, " "), commandBound+patience, out)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
	return result{code: cmd.ProcessState.ExitCode(), output: string(out), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// want checks the exit code and that the output has all the words.
func (r result) want(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, w := range words {
		if !strings.Contains(strings.ToLower(r.output), strings.ToLower(w)) {
			t.Errorf("the output does not say %q", w)
		}
	}
	if strings.Contains(r.output, "goroutine ") {
		t.Error("the output has a stack trace")
	}
	if t.Failed() {
		t.Logf("output:\n%s", r.output)
	}
}

// binaries returns the programs, built.
func binaries(t *testing.T) harness.Binaries {
	t.Helper()
	b, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// file writes a text that only its owner may read into the test's directory.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
