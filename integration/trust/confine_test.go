package trust_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness"
)

// confine limits the memory of a program from its start if the process may do so (cgroups version 1, as root).
// Otherwise the tests only check the program's peak memory. confine logs which of the two applies.
func confine(t *testing.T, u *harness.Unit, octets int) {
	t.Helper()
	const root = "/sys/fs/cgroup/memory"
	group := filepath.Join(root, fmt.Sprintf("gslb-integration-%d", os.Getpid()))
	err := os.Mkdir(group, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"), []byte(strconv.Itoa(octets)), 0o600)
	}
	if err != nil {
		t.Logf("no limit of memory, its peak is looked at: %v", err)
		_ = os.Remove(group)
		return
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Errorf("the limit of memory stays behind: %v", err)
		}
	})
	t.Cleanup(func() { _ = u.Stop() }) // before that: a group with a process stays
	u.Inside = func(start func() error) error {
		runtime.LockOSThread() // a child is born where its parent's thread is
		defer runtime.UnlockOSThread()
		thread := []byte(strconv.Itoa(unix.Gettid()))
		if err := os.WriteFile(filepath.Join(group, "tasks"), thread, 0o600); err != nil {
			return err
		}
		return errors.Join(start(), os.WriteFile(filepath.Join(root, "tasks"), thread, 0o600))
	}
	t.Logf("%s has %d MiB of memory", u.Name, octets>>20)
}
