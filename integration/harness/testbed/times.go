package testbed

import (
	"os"
	"testing"
)

// full is true for tests at the size of make test-long.
var full = os.Getenv("GSLB_FULL") != ""

// InFull returns much if GSLB_FULL is set, as by make test-long, and otherwise little.
func InFull[T any](much, little T) T {
	if full {
		return much
	}
	return little
}

// OnlyInFull skips the test unless GSLB_FULL is set.
func OnlyInFull(t *testing.T) {
	t.Helper()
	if !full {
		t.Skip("GSLB_FULL=1 runs this test, as make test-long does")
	}
}
