package testbed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// RunMark is an environment variable that every process of a run inherits. It distinguishes left-behind processes of
// this run from processes of other runs.
const RunMark = "INTEGRATION_RUN"

// Programs returns the programs of GSLB_BIN, or builds them at the first call.
var Programs = sync.OnceValues(func() (harness.Binaries, error) {
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

// DirectoryPrefix is the prefix of a run's temporary directory; the process ID follows.
const DirectoryPrefix = "gslb-integration-"

// Main runs the tests with a separate temporary directory and mark, and fails if a file or a process remains. An
// interrupted run removes its directory. The next run removes the directory of a killed run.
func Main(m *testing.M) int {
	Sweep(os.TempDir())
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", DirectoryPrefix, os.Getpid()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		Clean(dir)   // the programs end with this process
		os.Exit(130) // exit status as in shells
	}()
	if err := errors.Join(os.Setenv("TMPDIR", dir), os.Setenv(RunMark, rand.Text())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	os.RemoveAll(filepath.Join(dir, "programs"))
	if left := Leftovers(dir, os.Getenv(RunMark)); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "left behind:\n%s\n", strings.Join(left, "\n"))
		code = 1
	}
	return code
}

// Leftovers lists the files in a directory, and the other running processes with the mark.
func Leftovers(dir, mark string) []string {
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return []string{err.Error()}
	}
	return append(left, ProcessesOf(mark)...)
}

// ProcessesOf lists the other running processes with a mark.
func ProcessesOf(mark string) (left []string) {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return []string{err.Error()}
	}
	self := fmt.Sprintf("/proc/%d/environ", os.Getpid())
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || path == self || !strings.Contains(string(env), RunMark+"="+mark) {
			continue // owned by another user, or removed meanwhile
		}
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		left = append(left, filepath.Dir(path)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
	}
	return left
}
