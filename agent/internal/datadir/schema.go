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

	"gslb.internal/shared/durable"
)

// schema is the version of the directory's format. A change that an older agent would misread requires a new version.
const schema = 1

const (
	// schemaFile is the file with the schema of a directory. Its form never changes: "schema: 1",
	// then "program: <name and version>" of the agent that first wrote that schema.
	schemaFile    = "agent.schema"
	maxSchemaFile = 1 << 10 // bytes
)

// prepare deletes unfinished files and writes the schema file if it is missing. A directory without
// the file has the format of schema 1. The caller holds the lock.
func prepare(path, program string) error {
	if err := clearLeftovers(path); err != nil {
		return err
	}
	found, err := readSchema(path)
	if err != nil || found == schema {
		return err
	}
	text := fmt.Appendf(nil, "schema: %d\nprogram: %s\n", schema, program)
	if err := durable.WriteFile(filepath.Join(path, schemaFile), text, 0o600); err != nil {
		return fmt.Errorf("data_dir %s: writing its schema: %w", path, err)
	}
	return nil
}

// clearLeftovers deletes unfinished files of a killed process.
func clearLeftovers(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("data_dir %s: %w", path, plain(err))
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.Unfinished) {
			if err := os.RemoveAll(filepath.Join(path, e.Name())); err != nil {
				return fmt.Errorf("data_dir %s: deleting an unfinished file: %w", path, err)
			}
		}
	}
	return nil
}

// CheckSchema returns the error that Open would return for a directory of a newer version or with an invalid schema
// file. It has no side effects. It returns nil for a directory that this user may not read.
func CheckSchema(path string) error {
	if _, err := readSchema(path); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// readSchema returns the schema of a directory, or 0 without a schema file. A newer schema than the schema of this
// program is an error.
func readSchema(path string) (int, error) {
	name := filepath.Join(path, schemaFile)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("data_dir %s: reading its schema: %w", path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSchemaFile))
	if err != nil {
		return 0, fmt.Errorf("data_dir %s: reading its schema: %w", path, err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	digits, ok := strings.CutPrefix(first, "schema: ")
	found, err := strconv.Atoi(digits)
	if !ok || err != nil || found < 1 {
		return 0, fmt.Errorf(
			"%s is damaged: its first line must be \"schema: <number>\", not %.40q; if no agent newer than this one had the "+
				"directory, delete the file", name, first)
	}
	if found > schema {
		return 0, newer(path, found, rest)
	}
	return found, nil
}

// newer returns the error, with the remedy, for a directory of a newer version.
func newer(path string, found int, rest string) error {
	install := "the version that wrote it"
	line, _, _ := strings.Cut(rest, "\n")
	if program, ok := strings.CutPrefix(line, "program: "); ok && program != "" {
		install = fmt.Sprintf("%.100s", program)
	}
	return fmt.Errorf("data_dir %s has schema %d, and this agent understands up to %d: install %s or later", path, found,
		schema, install)
}
