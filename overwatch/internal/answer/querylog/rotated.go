package querylog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rotated is a file of lines with a bounded size. When it is full, it becomes path.1, and path.1 becomes path.2.
type rotated struct {
	path     string
	maxSize  int64
	maxFiles int

	file *os.File // nil after an error
	size int64
}

// open opens the file for appending. Without an error it has no effect if the file is open.
func (r *rotated) open() error {
	if r.file != nil {
		return nil
	}
	file, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640) //nolint:gosec // readable for a collector
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	r.file, r.size = file, info.Size()
	return nil
}

// write appends lines, after a rotation if they do not fit. After an error the file has none of the lines.
func (r *rotated) write(lines []byte) error {
	if err := r.open(); err != nil {
		return err
	}
	if r.size > 0 && r.size+int64(len(lines)) > r.maxSize {
		if err := r.rotate(); err != nil {
			return err
		}
	}
	n, err := r.file.Write(lines)
	if err == nil {
		r.size += int64(n)
		return nil
	}
	if n > 0 { // a part of the lines
		err = errors.Join(err, r.file.Truncate(r.size))
	}
	r.close()
	return err
}

// rotate renames the files and opens an empty file. It removes the oldest file.
func (r *rotated) rotate() error {
	r.close()
	if r.maxFiles == 1 {
		if err := os.Remove(r.path); err != nil {
			return err
		}
		return r.open()
	}
	for i := r.maxFiles - 1; i > 0; i-- {
		if err := os.Rename(r.name(i-1), r.name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return r.open()
}

// name returns the path of file i; 0 is the current file.
func (r *rotated) name(i int) string {
	if i == 0 {
		return r.path
	}
	return fmt.Sprintf("%s.%d", r.path, i)
}

func (r *rotated) close() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
}
