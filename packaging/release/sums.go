package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sums writes SHA256SUMS, as sha256sum --check reads it.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	path := filepath.Join(r.out, "SHA256SUMS")
	fmt.Println(" ", path)
	return os.WriteFile(path, []byte(list.String()), 0o644)
}
