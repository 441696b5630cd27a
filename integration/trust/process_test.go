package trust_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// peak returns the peak memory of a program since its start, in octets.
func peak(t *testing.T, u *harness.Unit) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("%s has ended", u.Name)
	return 0
}

// sound checks that a program runs and never used more memory than an attack may cause.
func sound(t *testing.T, u *harness.Unit, what string) {
	t.Helper()
	if !u.Running() {
		t.Fatalf("%s: %s has ended", what, u.Name)
	}
	got := peak(t, u)
	t.Logf("%s: %d MiB at most", what, got>>20)
	if got > soundSize {
		t.Errorf("%s: %s took %d MiB, allowed are %d", what, u.Name, got>>20, soundSize>>20)
	}
}
