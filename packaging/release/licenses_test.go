// The package is a command, so its tests are inside it.
package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

// The list of an executable contains each library with the name and the text of its license.
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

// The libraries of the console are in the list of each program that contains the console.
func TestConsoleLibraries_HaveLicensesAndTexts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("../..", consoleLicenses))
	if err != nil {
		t.Fatal(err)
	}
	list, err := consoleLibraries(string(text))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join("../..", filepath.Dir(consoleLicenses), "SUMS.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for _, l := range list {
		names.WriteString(l.path + "@" + l.version + " " + l.licenses[0] + "\n")
		if len(l.texts[0]) < 500 {
			t.Errorf("%s has the license text %q", l.path, l.texts[0])
		}
	}
	want := "preact@10.29.8 MIT\nhtm@3.1.1 Apache-2.0\nuplot@1.6.32 MIT\nworld-atlas@2.0.2 ISC\n"
	for line := range strings.Lines(string(sums)) {
		if name, _, _ := strings.Cut(line, " "); !strings.Contains(names.String(), name+" ") {
			t.Errorf("%s of SUMS.txt has no license", name)
		}
	}
	if names.String() != want {
		t.Errorf("got\n%swant\n%s", names.String(), want)
	}
	if _, err := consoleLibraries("x 1.2.3 (https://example.com/x)\n\nAll rights reserved.\n"); err == nil {
		t.Error("an unknown license is accepted")
	}
	included := 0
	for _, p := range programs {
		if p.console {
			included++
		}
	}
	if included != 2 {
		t.Errorf("%d programs contain the console, want gslb-overwatch and gslb", included)
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
