package contexts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"go.yaml.in/yaml/v3"

	"gslb.internal/shared/settings"
)

// maxFile is the maximum size of the file in octets. It is sufficient for some thousand contexts.
const maxFile = 1 << 20

// File has all contexts and the name of the current context.
type File struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`

	path string
}

// DefaultPath returns the path of the file: gslb/config.yaml in XDG_CONFIG_HOME. If XDG_CONFIG_HOME is not an absolute
// path, it is ~/.config (XDG Base Directory Specification).
func DefaultPath(getenv func(string) string) (string, error) {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := cmp.Or(getenv("HOME"), getenv("USERPROFILE")) // USERPROFILE is for Windows
		if home == "" {
			return "", errors.New("there is no home directory to look for contexts in: set HOME")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "gslb", "config.yaml"), nil
}

// Load reads the file. A missing file has no contexts. Load returns an error if the file contains a token and other
// users can read or write the file.
func Load(path string) (*File, error) {
	f := &File{path: path}
	text, mode, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		f.Contexts = map[string]Context{}
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the contexts: %w", err)
	}
	if err := settings.NewDecoder(string(text)).Decode(f); err != nil && !errors.Is(err, io.EOF) {
		if problems, ok := errors.AsType[settings.Problems](err); ok {
			problems[0].File = path
			err = problems[:1]
		}
		return nil, fmt.Errorf("reading the contexts: %w", err)
	}
	if f.Contexts == nil {
		f.Contexts = map[string]Context{}
	}
	for name, c := range f.Contexts {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%s: context %q: %w", path, name, err)
		}
		if c.Token != "" && exposed(mode) {
			return nil, fmt.Errorf("%s has the token of context %q in it and others may read it: run chmod 600 %[1]s",
				path,
				name)
		}
	}
	if _, known := f.Contexts[f.Current]; f.Current != "" && !known {
		return nil,
			fmt.Errorf("%s: current is %q and no context has that name: edit the file", path, f.Current)
	}
	return f, nil
}

func read(path string) ([]byte, fs.FileMode, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	return text, info.Mode(), err
}

// exposed reports whether other users can read or write a file. On Windows, where the mode lacks this information, it
// returns false.
func exposed(mode fs.FileMode) bool { return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Change loads the file, calls edit, and writes the result with mode 0600. It loses comments in the file. If edit
// fails, the file stays unchanged. A concurrent change by another process is an error.
func Change(path string, edit func(*File) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the directory of the contexts: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // replace the target of a symbolic link, and keep the link
	}
	// Change writes the new content to this file, which is also the lock.
	lock := path + ".lock"
	next, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another gslbctl is changing the contexts: retry, and if no other gslbctl runs, delete %s",
			lock)
	}
	if err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	if err := replace(path, next, edit); err != nil {
		os.Remove(lock) // after a success, the lock file no longer exists
		return err
	}
	return nil
}

// replace writes the changed file to next and renames next to path.
func replace(path string, next *os.File, edit func(*File) error) error {
	defer next.Close()
	f, err := Load(path)
	if err != nil {
		return err
	}
	if err := edit(f); err != nil {
		return err
	}
	if err := f.write(next); err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	return nil
}

func (f *File) write(to *os.File) error {
	enc := yaml.NewEncoder(to)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(f), enc.Close(), to.Sync(), to.Close())
}
