package testbed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Sweep removes the directories that killed runs have left in temp.
func Sweep(temp string) {
	dirs, _ := filepath.Glob(filepath.Join(temp, DirectoryPrefix+"*-*"))
	for _, dir := range dirs {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), DirectoryPrefix+"%d-", &pid); err != nil || Alive(pid) {
			continue
		}
		Clean(dir)
	}
}

// Alive reports whether a process with the ID exists.
func Alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Clean unmounts all file systems in the directory of a run and removes the directory. If a file system stays mounted,
// Clean leaves the directory: the files below may belong to another user.
func Clean(dir string) {
	below := MountedBelow(dir)
	for _, at := range slices.Backward(below) { // last mount first
		_ = exec.Command("umount", "--lazy", at).Run() // the result is checked below
	}
	if len(MountedBelow(dir)) == 0 {
		_ = os.RemoveAll(dir) // the next run retries the removal
	}
}

// Unescaped decodes the paths in the list of mounts, proc_pid_mounts(5).
var Unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// MountedBelow lists the mounts inside a directory, oldest first. It returns nil if the system has no list of mounts,
// such as systems other than Linux.
func MountedBelow(dir string) (at []string) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil // tests mount file systems only on Linux
	}
	for l := bufio.NewScanner(bytes.NewReader(mounts)); l.Scan(); {
		if fields := strings.Fields(l.Text()); len(fields) > 1 && strings.HasPrefix(Unescaped.Replace(fields[1]), dir+"/") {
			at = append(at, Unescaped.Replace(fields[1]))
		}
	}
	return at
}
