package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// InUse reports whether a process has locked the directory. It has no side effects, and returns false for a directory
// that it cannot read.
func InUse(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer f.Close() // which also releases the lock
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
