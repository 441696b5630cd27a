package testbed

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// SmallDisk mounts an empty disk of 16 MiB until the end of the test. Without root, the test is skipped (see Missing).
func SmallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "gslb-test",
		disk).CombinedOutput(); err != nil {
		Missing(t, fmt.Sprintf("mounting a small disk: %v: %s", err, output))
	}
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", disk).Run() })
	return disk
}

// OpenFiles returns the number of open file descriptors of a process.
func OpenFiles(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Memory returns the resident memory of a process, in octets.
func Memory(t *testing.T, pid int) int64 {
	t.Helper()
	return StatusBytes(t, pid, "VmRSS:")
}

// ResidentMiB is Memory in MiB.
func ResidentMiB(t *testing.T, pid int) int {
	t.Helper()
	return int(Memory(t, pid) >> 20)
}

// StatusBytes reads a line in KiB of /proc/PID/status, such as "VmRSS:", and returns octets.
func StatusBytes(t *testing.T, pid int, key string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\n"+key)
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatalf("%s of process %d: %v", key, pid, err)
	}
	return kib << 10
}

// Cpu returns the CPU time of a process since its start, in user and kernel mode.
func Cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go runs on
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var used time.Duration
	for _, field := range fields[11:13] { // utime and stime, fields 14 and 15 of proc(5)
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		used += time.Duration(n) * tick
	}
	return used
}
