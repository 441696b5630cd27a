package testbed

import (
	"os"
	"strconv"
	"testing"
)

// InFull returns much where GSLB_FULL is set, as by make test-long, and little elsewhere.
func InFull[T any](much, little T) T {
	if os.Getenv("GSLB_FULL") != "" {
		return much
	}
	return little
}

// Times returns the number of repetitions of a test: that in the environment variable, for a long run, else few.
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
