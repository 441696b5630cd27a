// Package trust_test holds what an agent may make a node do against agents that mean ill: real identities, the
// octets of gslb-agent, real nodes.
package trust_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// programs builds the programs once, when the first test wants them, or takes them from GSLB_BIN.
var programs = sync.OnceValues(func() (harness.Binaries, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir := filepath.Join(os.TempDir(), "programs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return harness.Binaries{}, err
	}
	return harness.Build(ctx, os.Getenv("GSLB_BIN"), dir)
})

// TestMain gives all tests a temporary directory of their own, with a name that the next run of the integration tests
// sweeps, and fails when a file is left in it.
func TestMain(m *testing.M) {
	if os.Getenv(worstPart) != "" {
		os.Exit(playWorst())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", fmt.Sprintf("gslb-integration-%d-", os.Getpid()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	code := m.Run()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range left {
		if filepath.Base(path) != "programs" {
			err = errors.Join(err, fmt.Errorf("left behind: %s", path))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// has says whether a text has all the words, whatever their case.
func has(text string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return false
		}
	}
	return true
}
