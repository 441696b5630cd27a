// Package durable owns the writing of small files that must survive a crash. All programs and package identity call it.
// It holds no state and knows nothing of what is written.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Unfinished ends the name of a file that is still being written. One that a killed process has left behind may be
// deleted.
const Unfinished = ".being-written"

// WriteFile replaces a file, so that after a crash it has either the old or the new content, complete. Errors name the
// file.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*"+Unfinished)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

// SyncDir makes the names in a directory durable. Windows has no such call and does not need it.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
