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

// schema is the version of the directory's format. Any change that an older agent would misread,
// even if it could read it, needs a new number.
const schema = 1

const (
	// schemaFile is the file with the schema of a directory. Its form never changes: "schema: 1",
	// then "program: <name and version>" of the agent that first wrote that schema.
	schemaFile    = "agent.schema"
	maxSchemaFile = 1 << 10 // octets
)

// step converts a directory from the schema before.
type step struct {
	// keeps are the files and directories to copy before the step. Subdirectories of these are not copied.
	keeps []string
	// apply converts the directory. An earlier call may have been interrupted anywhere.
	apply func(path string) error
}

// steps[0] converts schema 0 to 1. Schema 0 is a directory without a schema file; schema 1 only
// adds that file.
var steps = []step{
	{keeps: []string{"agent.crt", "agent.key", "agent.epoch", "overwatch_pins"}, apply: func(string) error { return nil }},
}

// keptName returns the directory of the copy made before converting from a schema.
func keptName(path string, number int) string {
	return filepath.Join(path, schemaFile+"-"+strconv.Itoa(number))
}

// migrate converts the directory to the current schema, and copies its files before each step.
// After an interruption the copies are intact and the next start goes on. The caller holds the
// lock.
func migrate(path, program string) error {
	if err := clearLeftovers(path); err != nil {
		return err
	}
	found, err := readSchema(path)
	if err != nil {
		return err
	}
	for ; found < schema; found++ {
		s := steps[found]
		if err := keep(path, s.keeps, keptName(path, found)); err != nil {
			return fmt.Errorf("data_dir %s: keeping a copy before it is converted from schema %d to %d: %w: nothing was changed",
				path, found, found+1, err)
		}
		err := s.apply(path)
		if err == nil {
			err = writeSchema(path, found+1, program)
		}
		if err != nil {
			return fmt.Errorf("data_dir %s: converting it from schema %d to %d: %w: what it had is in %s", path, found, found+1,
				err, keptName(path, found))
		}
	}
	return nil
}

// CheckSchema returns the error that Open would return for a directory of a newer version or with a
// broken schema file. It changes nothing. It returns nil for a directory that this user may not
// read.
func CheckSchema(path string) error {
	if _, err := readSchema(path); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// readSchema returns the schema of a directory. A schema newer than this program's is an error.
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
	text := fmt.Sprintf("data_dir %s has schema %d, and this agent understands up to %d: install %s or later", path, found,
		schema, install)
	if kept := keptName(path, schema); isDir(kept) {
		text += fmt.Sprintf("; or go back to the copy that was kept when it was converted: cp -a %s/. %s/", kept, path)
	}
	return errors.New(text)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// writeSchema writes the schema file.
func writeSchema(path string, number int, program string) error {
	text := fmt.Appendf(nil, "schema: %d\nprogram: %s\n", number, program)
	return durable.WriteFile(filepath.Join(path, schemaFile), text, 0o600)
}
