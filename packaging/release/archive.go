package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

// entry is one file of an archive.
type entry struct {
	from, name string
	mode       os.FileMode
}

// archive packs an executable with its manual, its license and the licenses of its libraries: zip for Windows, a
// compressed tar for other systems.
func (r *release) archive(binary, licenses string, p program, t target, base string) (err error) {
	manual := filepath.Join(p.module, "README.md")
	if p.module == "packaging/launcher" {
		manual = "README.md"
	}
	entries := []entry{
		{binary, base + "/" + p.name + extension(t), 0o755}, {manual, base + "/README.md", 0o644},
		{"LICENSE", base + "/LICENSE", 0o644}, {"NOTICE", base + "/NOTICE", 0o644},
		{licenses, base + "/THIRD-PARTY.txt", 0o644},
	}
	write, suffix := r.tar, ".tar.gz"
	if t.os == "windows" {
		write, suffix = r.zip, ".zip"
	}
	f, err := os.Create(filepath.Join(r.out, base+suffix))
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	fmt.Println(" ", f.Name())
	return write(f, entries)
}

func (r *release) tar(f *os.File, entries []entry) error {
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	for _, e := range entries {
		content, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(content)), Mode: int64(e.mode),
			ModTime: r.date, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func (r *release) zip(f *os.File, entries []entry) error {
	w := zip.NewWriter(f)
	for _, e := range entries {
		content, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.date}
		header.SetMode(e.mode)
		part, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(content); err != nil {
			return err
		}
	}
	return w.Close()
}
