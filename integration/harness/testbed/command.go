package testbed

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// The exit codes of all programs.
const (
	ExitOK       = 0
	ExitFailure  = 1
	ExitBadInput = 2
)

// Result is the outcome of a program that ended without a signal.
type Result struct {
	Code   int
	Output string // both streams
	Cpu    time.Duration
}

// Command runs a program to its end, without environment variables of gslb. After Hang it kills the program and fails
// the test.
func Command(t *testing.T, argv ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{RunMark + "=" + os.Getenv(RunMark), "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	cmd.WaitDelay = Patience // the machine may pause between the end of the program and its last line
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s did not end within %s; its output:\n%s", strings.Join(argv, " "), Hang, out)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Output: string(out),
		Cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// Want checks the exit code, and that the output contains all words in any letter case, and no stack trace.
func (r Result) Want(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("exit code %d, want %d", r.Code, code)
	}
	for _, w := range words {
		if !strings.Contains(strings.ToLower(r.Output), strings.ToLower(w)) {
			t.Errorf("the output does not say %q", w)
		}
	}
	if strings.Contains(r.Output, "goroutine ") {
		t.Error("the output has a stack trace")
	}
	if t.Failed() {
		t.Logf("output:\n%s", r.Output)
	}
}

// Binaries returns the programs (see Programs), or fails the test.
func Binaries(t testing.TB) harness.Binaries {
	t.Helper()
	b, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// File writes a text into a new directory of the test, readable by its owner only, and returns the path.
func File(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	Write(t, path, 0o600, text)
	return path
}

// ProgramsTogether returns a directory with all programs.
func ProgramsTogether(t *testing.T) string {
	t.Helper()
	b, dir := Binaries(t), t.TempDir()
	for _, path := range []string{b.Overwatch, b.Agent, b.Control, b.Launcher, b.Backend} {
		if err := os.Symlink(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// UnusedAddress returns a loopback address with a port that is free over TCP and UDP until the end of the test: other
// tests and the kernel use other ports.
func UnusedAddress(t *testing.T) string {
	t.Helper()
	at := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	r, err := harness.Reserve([]netip.Addr{at}, "tcp", "udp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	r.Release()
	return r.On(at).String()
}
