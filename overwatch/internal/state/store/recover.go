package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gslb.internal/shared/durable"
)

// settleFile ensures that a sound file has the name of the store:
//
//	file      copy      result
//	sound     any       the file
//	behind    newer     the copy; the file is set aside
//	behind    else      the file, and a warning
//	damaged   sound     the copy; the file is set aside
//	damaged   else      empty; both are set aside
//	missing   sound     the copy
//	missing   damaged   empty; the copy is set aside
//	missing   missing   empty: the first start
//
// An empty file is treated as damaged, because a store receives its name only after it is complete. Only the first
// start of a node does not count as a recovery.
func (s *Store) settleFile() error {
	found, err := inspect(s.path)
	switch {
	case err == nil && !found.behind:
		return nil
	case err == nil:
		copied, copyErr := inspect(s.copyPath())
		if copyErr == nil && copied.txid > found.txid {
			return s.replace("one of its two meta pages is damaged, and the copy is newer")
		}
		s.recovered = s.path + " has one damaged meta page of two: the last change may be missing"
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(s.copyPath()); errors.Is(err, fs.ErrNotExist) {
			return s.create()
		}
		return s.replace("it is missing")
	case errors.Is(err, errDamaged):
		return s.replace(err.Error())
	}
	if other, ok := errors.AsType[*schemaError](err); ok {
		return other
	}
	return fmt.Errorf("opening %s: %w: this user (uid %d) must be able to read and write it", s.path, err, os.Geteuid())
}

// inspect verifies a file. The error wraps errDamaged unless the file cannot be opened or has another schema
// (schemaError).
func inspect(path string) (soundness, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return soundness{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return soundness{}, err
	}
	if !info.Mode().IsRegular() {
		return soundness{}, errors.New("it is not a file")
	}
	if err := refuseOtherSchema(path, f, info.Size()); err != nil {
		return soundness{}, err
	}
	return verify(f, info.Size())
}

// replace moves the file away and replaces it with the copy, or with an empty store if the copy is damaged.
func (s *Store) replace(why string) error {
	_, copyErr := inspect(s.copyPath())
	if other, ok := errors.AsType[*schemaError](copyErr); ok {
		return other // the program of that schema can use the copy, and can determine whether this file is damaged
	}
	s.recovered = fmt.Sprintf("%s could not be used (%s)", s.path, why)
	aside, err := s.setAside(s.path)
	if err != nil {
		return err
	}
	if aside != "" {
		s.recovered += ", was set aside as " + aside
	}
	switch {
	case copyErr == nil:
		return s.useCopy()
	case !errors.Is(copyErr, fs.ErrNotExist):
		if aside, err = s.setAside(s.copyPath()); err != nil {
			return err
		}
		s.recovered += "; its copy could not be used either, was set aside as " + aside
	}
	s.recovered += "; the store is empty now: agents must enrol again, revocations and overrides are lost"
	return s.create()
}

// setAside renames a damaged file to a name with the date and returns the name. It returns "" if there is no such file.
func (s *Store) setAside(path string) (string, error) {
	name := path + ".damaged-" + s.now().UTC().Format("20060102T150405.000Z")
	err := rename(path, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return name, err
}

// useCopy creates the store's file from a sound copy.
func (s *Store) useCopy() error {
	info, err := os.Stat(s.copyPath())
	if err != nil {
		return err
	}
	if err := duplicate(s.copyPath(), s.path); err != nil {
		// If the disk is full, rename the copy instead.
		if renameErr := rename(s.copyPath(), s.path); renameErr != nil {
			return fmt.Errorf("restoring %s: %w", s.path, errors.Join(err, renameErr))
		}
	}
	s.recovered += "; the copy of " + info.ModTime().UTC().Format(time.RFC3339) +
		" took its place: later pins, revocations and overrides are lost"
	return nil
}

// clearLeftovers deletes the unfinished files of an earlier process.
func (s *Store) clearLeftovers() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return notWritable(s.dir, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fileName) && strings.Contains(e.Name(), newEnding) {
			if err := os.Remove(filepath.Join(s.dir, e.Name())); err != nil {
				return notWritable(s.dir, err)
			}
		}
	}
	return nil
}

// newEnding is the suffix of unfinished files.
const newEnding = ".new-"

// writeWhole writes a store file atomically: it verifies the complete file on disk, and then gives the file its name.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newEnding+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, which is harmless
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := inspect(f.Name()); err != nil {
		return err
	}
	return rename(f.Name(), path)
}

// duplicate copies a sound file. No process may write to the file during the copy.
func duplicate(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeWhole(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// rename renames a file durably.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(to))
}
