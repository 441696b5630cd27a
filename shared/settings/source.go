package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// file is the content of a file.
type file struct {
	text string
	perm fs.FileMode
}

// openFile opens a regular file. It rejects other files, which could block.
func openFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plain(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("is %s: give a regular file", kindOf(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	return f, nil
}

// readFile reads a regular file of at most limit octets.
func readFile(path string, limit int64) (file, error) {
	f, err := openFile(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return file{}, plain(err)
	}
	var text strings.Builder // a single copy, since the file may be large
	text.Grow(int(min(info.Size(), limit)) + 1)
	if _, err := io.Copy(&text, io.LimitReader(f, limit+1)); err != nil {
		return file{}, plain(err)
	}
	if int64(text.Len()) > limit {
		return file{}, fmt.Errorf("has more than %d octets, which is the limit", limit)
	}
	return file{text.String(), info.Mode().Perm()}, nil
}

// ReadFile returns the text of the file that the value of a key names, of at most limit octets. A relative path begins
// at the file with the key. The error omits the path. With LoadText, ReadFile reads no file and adds the problem
// itself; the caller adds none.
func (r *Report) ReadFile(key, path string, limit int64) (string, error) {
	if r.alone {
		r.Add(key, path, "this text is checked by itself and no file is read: leave this key out of it")
		return "", errors.New("is not read")
	}
	content, err := readFile(beside(r.Locate(key).File, path), limit)
	return content.text, err
}

// beside returns the path that a file names, relative to the directory of the file.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// plain replaces operation and path in a file error by "cannot be read", because the message begins with the path.
func plain(err error) error {
	pathError, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("cannot be read: %w", pathError.Err)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// openToOthers reports whether group or others may read or write a file.
func openToOthers(perm fs.FileMode) bool { return perm&0o066 != 0 }

// closeRemedy returns the command that removes the permissions of others from a file.
func closeRemedy(path string, perm fs.FileMode) string {
	return fmt.Sprintf("open to group or others (mode %04o): chmod 600 %s", perm, path)
}
