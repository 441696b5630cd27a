//go:build unix

package datadir // inside: it uses lockName

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen_MakesTheDirectoryForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	dir, err := Open(path, thisProgram)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("mode %o lets others in", mode)
	}
}

func TestOpen_SecondAgentIsKeptOutAndToldByWhom(t *testing.T) {
	path := t.TempDir()
	first, err := Open(path, thisProgram)
	if err != nil {
		t.Fatal(err)
	}
	if !InUse(path) {
		t.Error("a directory that is open is not in use")
	}
	_, err = Open(path, thisProgram)
	if err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("second open: %v", err)
	}
	first.Close()
	if InUse(path) {
		t.Error("a directory that was closed is in use")
	}
	again, err := Open(path, thisProgram)
	if err != nil {
		t.Fatalf("after closing: %v", err)
	}
	again.Close()
}

func TestOpen_LockFileOfAnAgentThatDiedKeepsNobodyOut(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, lockName), []byte("4194305\n and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := Open(path, thisProgram)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	text, _ := os.ReadFile(filepath.Join(path, lockName))
	if string(text) != fmt.Sprintf("%d\n", os.Getpid()) {
		t.Errorf("the lock file has %q", text)
	}
}

func TestOpen_NamesTheDirectoryAndTheRemedy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(file, thisProgram)
	if err == nil || !strings.Contains(err.Error(), file+" is a file: name a directory") {
		t.Errorf("a file: %v", err)
	}
	_, err = Open(filepath.Join(file, "below"), thisProgram)
	if err == nil || !strings.Contains(err.Error(), "cannot be made (not a directory)") {
		t.Errorf("below a file: %v", err)
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		closed = "/proc/self" // root may write to any directory but one of the kernel's
	}
	_, err = Open(closed, thisProgram)
	if err == nil || !strings.Contains(err.Error(), "cannot be written to") {
		t.Errorf("not writable: %v", err)
	}
}

func TestInUse_LeavesNothingBehind(t *testing.T) {
	path := t.TempDir()
	if InUse(path) || InUse(filepath.Join(path, "missing")) {
		t.Error("nobody has it")
	}
	if entries, _ := os.ReadDir(path); len(entries) != 0 {
		t.Errorf("asking made %v", entries)
	}
}
