package testbed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// SmallDisk mounts an empty disk of 16 MiB until the test ends. That needs root; else the test is skipped, see Missing.
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

// ResidentMiB returns the resident memory of a process.
func ResidentMiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * os.Getpagesize() >> 20
}

// ProcessorTime is the processor time that a program has used: its own, and the kernel's on its behalf.
type ProcessorTime struct{ Own, Kernel time.Duration }

// Since returns the processor time used since an earlier reading.
func (p ProcessorTime) Since(earlier ProcessorTime) ProcessorTime {
	return ProcessorTime{p.Own - earlier.Own, p.Kernel - earlier.Kernel}
}

// Sum returns both parts together.
func (p ProcessorTime) Sum() time.Duration { return p.Own + p.Kernel }

// Cpu returns the processor time that a program has used so far. The program is found by its configuration file.
func Cpu(t *testing.T, configPath string) ProcessorTime {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join(ProcessOf(t, configPath), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go runs on
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var used [2]time.Duration
	for i, field := range fields[11:13] { // utime and stime, fields 14 and 15 of proc(5)
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		used[i] = time.Duration(n) * tick
	}
	return ProcessorTime{Own: used[0], Kernel: used[1]}
}
