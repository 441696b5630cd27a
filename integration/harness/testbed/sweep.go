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

// Sweep removes what runs have left that were killed.
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

func Alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Clean removes a directory of a run, and before that takes away what is mounted in it. If something stays mounted the
// directory stays too: what is below may be somebody else's.
func Clean(dir string) {
	below := MountedBelow(dir)
	for _, at := range slices.Backward(below) { // the newest first
		_ = exec.Command("umount", "--lazy", at).Run() // whether it did is looked at
	}
	if len(MountedBelow(dir)) == 0 {
		_ = os.RemoveAll(dir) // what cannot be removed is tried again by the next run
	}
}

// Unescaped undoes what the list of mounts does to paths, proc_pid_mounts(5).
var Unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// MountedBelow lists what is mounted inside a directory, the oldest first. It lists the directory itself if that cannot
// be known on Linux.
func MountedBelow(dir string) (at []string) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil // not Linux: nothing is mounted by tests
	}
	for l := bufio.NewScanner(bytes.NewReader(mounts)); l.Scan(); {
		if fields := strings.Fields(l.Text()); len(fields) > 1 && strings.HasPrefix(Unescaped.Replace(fields[1]), dir+"/") {
			at = append(at, Unescaped.Replace(fields[1]))
		}
	}
	return at
}
