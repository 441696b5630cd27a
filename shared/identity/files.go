package identity

import (
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gslb.internal/shared/durable"
)

// maxFile bounds an identity file, in octets. The files of gslb have a few hundred.
const maxFile = 16 << 10

// readPEM returns the content of the only block of a PEM file.
func readPEM(path, blockType string) ([]byte, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, fmt.Errorf("%s is damaged (no PEM block): %s", path, remedy)
	case block.Type != blockType:
		return nil, fmt.Errorf("%s is damaged (holds a %q, not a %q): %s", path, block.Type, blockType, remedy)
	case strings.TrimSpace(string(rest)) != "":
		return nil, fmt.Errorf("%s is damaged (%d octets behind the first block): %s", path, len(rest), remedy)
	}
	return block.Bytes, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return text, nil
}

// ownerOnly returns an error for a file that its group or others can read or write.
func ownerOnly(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s can be used by others than its owner (mode %04o): chmod 600 %s", path, mode, path)
	}
	return nil
}

// putInPlace renames the unfinished certificate to its final name.
func putInPlace(certPath string) error {
	err := os.Rename(certPath+waiting, certPath)
	if err == nil {
		err = durable.SyncDir(filepath.Dir(certPath))
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w; the directory must be writable for this user", certPath, err)
	}
	return nil
}

// writeFile replaces a file as durable.WriteFile does.
func writeFile(path string, text []byte, mode os.FileMode) error {
	if err := durable.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("writing %s: %w; the directory must be writable for this user", path, err)
	}
	return nil
}
