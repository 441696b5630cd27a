package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// settleFile sees to it that there is a sound file under the store's name:
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
// An empty file counts as damaged: a store gets its name only when it is whole. Only the very first start is no recovery.
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
			return create(s.path)
		}
		return s.replace("it is missing")
	case errors.Is(err, errDamaged):
		return s.replace(err.Error())
	}
	return fmt.Errorf("opening %s: %w: this user (uid %d) must be able to read and write it", s.path, err, os.Geteuid())
}

// inspect verifies a file. The error wraps errDamaged unless the file could not be opened at all.
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
	return verify(f, info.Size())
}

// replace sets the file aside and puts the copy in its place, or an empty store if the copy is no better.
func (s *Store) replace(why string) error {
	s.recovered = fmt.Sprintf("%s could not be used (%s)", s.path, why)
	aside, err := s.setAside(s.path)
	if err != nil {
		return err
	}
	if aside != "" {
		s.recovered += ", was set aside as " + aside
	}
	if _, err := inspect(s.copyPath()); err == nil {
		return s.useCopy()
	} else if !errors.Is(err, fs.ErrNotExist) {
		if aside, err = s.setAside(s.copyPath()); err != nil {
			return err
		}
		s.recovered += "; its copy could not be used either, was set aside as " + aside
	}
	s.recovered += "; the store is empty now: agents must enrol again, revocations and overrides are lost"
	return create(s.path)
}

// setAside renames a damaged file to a name with the date, which it returns; "" if there is no such file.
func (s *Store) setAside(path string) (string, error) {
	name := path + ".damaged-" + s.now().UTC().Format("20060102T150405.000Z")
	err := rename(path, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return name, err
}

// useCopy puts a copy of the copy, which is sound, under the store's name.
func (s *Store) useCopy() error {
	from, err := os.Open(s.copyPath())
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if err := writeWhole(s.path, func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	}); err != nil {
		// No room for a second copy, perhaps: then the only one has to serve.
		if renameErr := rename(s.copyPath(), s.path); renameErr != nil {
			return fmt.Errorf("restoring %s: %w", s.path, errors.Join(err, renameErr))
		}
	}
	s.recovered += "; the copy of " + info.ModTime().UTC().Format(time.RFC3339) + " took its place: later pins, revocations and overrides are lost"
	return nil
}

// writeWhole writes a file that gets its name only when it is whole and on the disk.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename, which is as it should be
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

// rename renames a file durably.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
