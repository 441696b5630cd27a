package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gslb.internal/shared/durable"
)

// Bounds of a copy. An agent's files are small, and it has one pin for each overwatch node.
const (
	maxKeptFile  = 64 << 10 // octets
	maxKeptFiles = 1000     // files in one directory
)

// keep copies the named files and directories, and the schema file, from a directory into its
// subdirectory kept (0700). The copy gets that name when it is complete, and replaces an older one.
// If none of the names exists, keep makes no copy.
func keep(path string, names []string, kept string) error {
	temporary := kept + durable.Unfinished
	found := 0
	for _, name := range slices.Concat(names, []string{schemaFile}) {
		info, err := os.Stat(filepath.Join(path, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if found == 0 {
			if err := os.Mkdir(temporary, 0o700); err != nil {
				return err
			}
		}
		found++
		if err := keepOne(filepath.Join(path, name), info, filepath.Join(temporary, name)); err != nil {
			return errors.Join(err, os.RemoveAll(temporary))
		}
	}
	if found == 0 {
		return nil
	}
	if err := errors.Join(durable.SyncDir(temporary), os.RemoveAll(kept), os.Rename(temporary, kept)); err != nil {
		return err
	}
	return durable.SyncDir(path)
}

// keepOne copies a file, or a directory with the files in it.
func keepOne(from string, info fs.FileInfo, to string) error {
	if !info.IsDir() {
		return copyFile(from, info, to)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if len(entries) > maxKeptFiles {
		return fmt.Errorf("%s has %d files, of which at most %d are kept: move what is not the agent's elsewhere", from,
			len(entries), maxKeptFiles)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), info, filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return durable.SyncDir(to)
}

// copyFile copies a file, readable by its owner only.
func copyFile(from string, info fs.FileInfo, to string) error {
	if info.Size() > maxKeptFile {
		return fmt.Errorf("%s has %d octets, an agent's files have at most %d: move it elsewhere if it is not the agent's",
			from, info.Size(), maxKeptFile)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return durable.WriteFile(to, content, 0o600)
}

// clearLeftovers deletes unfinished files of a process that was killed.
func clearLeftovers(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("data_dir %s: %w", path, plain(err))
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.Unfinished) {
			if err := os.RemoveAll(filepath.Join(path, e.Name())); err != nil {
				return fmt.Errorf("data_dir %s: deleting what was half written: %w", path, err)
			}
		}
	}
	return nil
}

// Copies returns the paths that a file has in the kept copies of a directory, whether it exists
// there or not.
func Copies(path, name string) (places []string) {
	for number := range schema {
		places = append(places, filepath.Join(keptName(path, number), name))
	}
	return places
}
