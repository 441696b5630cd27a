package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrInUse is the error of Open if another process uses the directory.
var ErrInUse = errors.New("in use by another gslb process")

const (
	// lockTimeout is the maximum time that Open waits for another process to release the directory. A handover at a
	// restart takes less time.
	lockTimeout = time.Second
	lockRetry   = 20 * time.Millisecond
)

// lockDir locks the directory for this process until the file is closed or the process ends.
func lockDir(dir, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, notWritable(dir, err)
	}
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(lockRetry) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		taken := errors.Is(err, syscall.EWOULDBLOCK)
		switch {
		case err == nil:
			writeOwner(f)
			return f, nil
		case (taken || errors.Is(err, syscall.EINTR)) && time.Now().Before(deadline):
			continue
		}
		defer f.Close()
		if taken {
			return nil, fmt.Errorf("data_dir %s is %w%s: stop that one, or give this one a data_dir of its own", dir, ErrInUse,
				owner(f))
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
}

// writeOwner writes the process id into the lock file, for the error message of another process.
func writeOwner(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0) // if the disk is full, the message lacks the number
	}
}

// owner returns a text about the process that holds the lock.
func owner(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 16))
	if pid, convErr := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && convErr == nil {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

func notWritable(dir string, err error) error {
	return fmt.Errorf("data_dir %s cannot be used: %w: it must be a directory that this user (uid %d) can write to", dir,
		err, os.Geteuid())
}
