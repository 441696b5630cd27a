package testbed

import (
	"os"
	"strconv"
	"testing"
)

// InFull is how much of something make test-long has (GSLB_FULL), or the little that make test-all has.
func InFull[T any](much, little T) T {
	if os.Getenv("GSLB_FULL") != "" {
		return much
	}
	return little
}

// Times is how often something is done: as an environment variable says, for a long run, or a few times.
func Times(t *testing.T, variable string, few int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: it is a number of times, such as 100", variable, text)
	}
	return n
}
