package datadir

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is beyond the content of the file, because a lock on Windows blocks reads of the locked range.
const lockOffset = 1 << 30

// tryLock locks f for this process without waiting.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: lockOffset})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}
