package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"
)

const (
	formulaTemplate = "packaging/homebrew/gslbctl.rb.tmpl"
	formulaFile     = "gslbctl.rb"
)

// formulaSystem is an operating system of the formula, with the names that Homebrew uses.
type formulaSystem struct {
	Name     string
	Archives []formulaArchive
}

// formulaArchive is an archive of gslbctl for one CPU.
type formulaArchive struct{ CPU, File, SHA256 string }

// formula writes the Homebrew formula of gslbctl. It does nothing if an archive for Linux or macOS is missing, as with
// -only.
func (r *release) formula() error {
	values := struct {
		Homepage, Downloads, Version string
		Systems                      []formulaSystem
	}{homepage, homepage + "/releases/download/v" + r.version, r.version, nil}
	for _, system := range []struct{ goos, name string }{{"darwin", "macos"}, {"linux", "linux"}} {
		s := formulaSystem{Name: system.name}
		for _, cpu := range []struct{ goarch, name string }{{"arm64", "arm"}, {"amd64", "intel"}} {
			name := "gslbctl_" + r.version + "_" + system.goos + "_" + cpu.goarch + ".tar.gz"
			content, err := os.ReadFile(filepath.Join(r.out, name))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			s.Archives = append(s.Archives, formulaArchive{cpu.name, name, hex.EncodeToString(sum[:])})
		}
		values.Systems = append(values.Systems, s)
	}
	text, err := template.ParseFiles(formulaTemplate)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := text.Execute(&out, values); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, formulaFile), out.Bytes(), 0o644)
}
