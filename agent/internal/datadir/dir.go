package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lockName is the name of the lock file. It contains the process id, for information only.
const lockName = "agent.lock"

// errLocked means that another process has the lock.
var errLocked = errors.New("locked by another process")

// Dir is a data directory that this process has locked.
type Dir struct{ lock *os.File }

// Open creates the directory (0700) if it is missing, locks it, and records its schema. program is the agent's name and
// version, for the error message of an older agent. Errors name the directory and the remedy. A directory that another
// agent has locked, or a newer version has written, is an error.
func Open(path, program string) (*Dir, error) {
	if err := create(path); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil,
			fmt.Errorf(
				"data_dir %s cannot be written to (%w): make it belong to the user that runs the agent, or choose another", path,
				plain(err))
	}
	if err := lockAndWriteID(lock, path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := prepare(path, program); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Dir{lock: lock}, nil
}

func create(path string) error {
	err := os.MkdirAll(path, 0o700)
	if err == nil {
		return nil
	}
	if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
		return fmt.Errorf("data_dir %s is a file: name a directory", path)
	}
	return fmt.Errorf(
		"data_dir %s cannot be made (%w): make it, belonging to the user that runs the agent, or choose another", path,
		plain(err))
}

// lockAndWriteID locks the file and writes the id of this process into it.
func lockAndWriteID(lock *os.File, path string) error {
	err := tryLock(lock)
	if errors.Is(err, errLocked) {
		return fmt.Errorf("data_dir %s is in use by another agent%s: stop it, or configure another data_dir", path,
			holder(lock))
	}
	if err != nil {
		return fmt.Errorf("locking data_dir %s: %w", path, err)
	}
	if err := lock.Truncate(0); err != nil {
		return fmt.Errorf("writing to data_dir %s: %w", path, err)
	}
	if _, err := lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("writing to data_dir %s: %w", path, err)
	}
	return nil
}

// holder returns a text about the process that holds the lock, from the content of the lock file.
func holder(lock *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(lock, 0, 20))
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || convErr != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// Close unlocks the directory.
func (d *Dir) Close() { _ = d.lock.Close() } // no writes are pending

// InUse reports whether an agent has locked the directory. It has no side effects. After an error, it returns false.
func InUse(path string) bool {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(tryLock(lock), errLocked)
}

// plain returns the reason of a system error without the path, for a message that contains the path.
func plain(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
