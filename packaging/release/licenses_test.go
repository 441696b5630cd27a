// The package is a command, so its tests are inside it.
package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

// The list of an executable has each library with its license and the text of the license.
func TestLibraries_HaveLicensesAndTexts(t *testing.T) {
	here, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list, err := libraries(here)
	if err != nil {
		t.Fatal(err)
	}
	if list[0].path != "std" || list[0].licenses[0] != "BSD-3-Clause" {
		t.Errorf("the first library is %+v, want std with BSD-3-Clause", list[0])
	}
	text := string(thirdParty(programs[0], list))
	for _, want := range []string{"aead.dev/minisign", "Permission is hereby granted", "The Go Authors"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
}

func TestReadLicenses_RejectsMissingUnknownAndDisallowed(t *testing.T) {
	agpl, err := assets.ReadLicenseFile("License/AGPL-1.0/license.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, text, want string }{
		{"missing", "README.md", "hello", "no license file"},
		{"unknown", "LICENSE", "All rights reserved.", "no text of a known license"},
		{"disallowed", "COPYING", string(agpl), "is not allowed"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		l := library{path: "example.com/" + c.name}
		if err := l.readLicenses(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
