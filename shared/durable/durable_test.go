package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"gslb.internal/shared/durable"
)

func TestWriteFile_ReplacesTheWholeFileAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, content := range []string{"first, which is longer", "second"} {
		if err := durable.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(text) != content || info.Mode().Perm() != 0o640 {
			t.Errorf("%q with mode %v: %v, %v", text, info.Mode(), err, statErr)
		}
	}
	if err := durable.WriteFile(dir, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	for _, in := range []string{dir, filepath.Dir(dir)} {
		if left, _ := filepath.Glob(filepath.Join(in, ".*"+durable.Unfinished)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestReadFile_IsBoundedAndAMissingFileIsNil(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if content, err := durable.ReadFile(path, 4); content != nil || err != nil {
		t.Errorf("a missing file: %q, %v", content, err)
	}
	for text, fits := range map[string]bool{"": true, "four": true, "fives": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		content, err := durable.ReadFile(path, 4)
		if (err == nil) != fits || fits && (content == nil || string(content) != text) {
			t.Errorf("%q: %q, %v", text, content, err)
		}
	}
}
