package integration_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// runMark is an environment variable that every process started by these tests inherits, so that one which was left
// behind can be told from somebody else's.
const runMark = "INTEGRATION_RUN"

// programs builds the programs once, when the first test wants them, or takes them from GSLB_BIN.
var programs = sync.OnceValues(func() (harness.Binaries, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir := filepath.Join(os.TempDir(), "programs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return harness.Binaries{}, err
	}
	from := os.Getenv("GSLB_BIN")
	if from != "" {
		if _, err := os.Stat(from); err != nil {
			return harness.Binaries{}, fmt.Errorf("GSLB_BIN: %w", err)
		}
	}
	return harness.Build(ctx, from, dir)
})

func TestMain(m *testing.M) {
	if os.Getenv(echoPart) != "" {
		os.Exit(playEcho())
	}
	os.Exit(run(m))
}

// run gives all tests a temporary directory and a mark of their own, and fails when anything of either is left.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gslb-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	os.Setenv(runMark, rand.Text())
	code := m.Run()
	os.RemoveAll(filepath.Join(dir, "programs"))
	if left := leftovers(dir, os.Getenv(runMark)); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "left behind:\n%s\n", strings.Join(left, "\n"))
		code = 1
	}
	return code
}

// leftovers lists the files in a directory and the running processes that carry the mark, but for this one.
func leftovers(dir, mark string) []string {
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return []string{err.Error()}
	}
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return append(left, err.Error())
	}
	self := fmt.Sprintf("/proc/%d/environ", os.Getpid())
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || path == self || !strings.Contains(string(env), runMark+"="+mark) {
			continue // somebody else's, or gone meanwhile
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		left = append(left, filepath.Dir(path)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
	}
	return left
}
