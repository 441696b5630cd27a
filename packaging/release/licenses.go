package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
	"golang.org/x/mod/module"
)

// allowedLicenses contains the SPDX identifiers of the permitted licenses of libraries in a release. Each permits
// distribution in a program with the license Apache-2.0. MPL-2.0 requires that the source of the library stays
// available; the text of the list states this.
var allowedLicenses = []string{
	"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MPL-2.0", "Unicode-DFS-2016",
}

// loadClassifier returns the classifier of license texts. It loads the known texts once, because this takes a second.
var loadClassifier = sync.OnceValues(assets.DefaultClassifier)

// library is a Go module, the standard library or a library of the console, in an executable.
type library struct {
	path, version, sum string
	source             string   // URL of the sources of a library of the console
	licenses           []string // SPDX identifiers, sorted
	texts              []string // license and notice files
}

// libraries returns the libraries in an executable with their licenses, sorted by path. It reads the license files in
// the module cache. It returns an error if a library has no license file, or an unknown or forbidden license.
func libraries(binary string) (list []library, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	cache, err := goVariable("GOMODCACHE")
	if err != nil {
		return nil, err
	}
	root, err := goVariable("GOROOT")
	if err != nil {
		return nil, err
	}
	standard := library{path: "std", version: info.GoVersion}
	if err := standard.readLicenses(root); err != nil {
		return nil, err
	}
	list = append(list, standard)
	for _, m := range info.Deps {
		if isOwnModule(m) {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		dir, err := module.EscapePath(m.Path)
		if err != nil {
			return nil, err
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return nil, err
		}
		l := library{path: m.Path, version: m.Version, sum: m.Sum}
		if err := l.readLicenses(filepath.Join(cache, dir+"@"+version)); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// isOwnModule reports whether a module is part of this repository.
func isOwnModule(m *debug.Module) bool {
	return m.Replace != nil && m.Replace.Sum == "" || m.Version == "(devel)"
}

func goVariable(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}

// readLicenses sets the licenses and texts from the files LICENSE*, LICENCE*, COPYING* and NOTICE* in dir.
func (l *library) readLicenses(dir string) error {
	known, err := loadClassifier()
	if err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("license of %s: %w", l.path, err)
	}
	var unknown error
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		notice := strings.HasPrefix(name, "NOTICE")
		if f.IsDir() || !notice && !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") &&
			!strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		l.texts = append(l.texts, strings.TrimRight(string(text), "\n"))
		if notice {
			continue
		}
		ids := licensesIn(known, text)
		if len(ids) == 0 {
			unknown = fmt.Errorf("license of %s: %s has no text of a known license", l.path, filepath.Join(dir, f.Name()))
		}
		l.licenses = append(l.licenses, ids...)
	}
	if len(l.licenses) == 0 {
		return errors.Join(fmt.Errorf("license of %s: %s has no license file", l.path, dir), unknown)
	}
	return errors.Join(l.checkLicenses(), unknown)
}

// checkLicenses sorts the licenses, and returns an error if one is not allowed.
func (l *library) checkLicenses() error {
	slices.Sort(l.licenses)
	l.licenses = slices.Compact(l.licenses)
	for _, id := range l.licenses {
		if !slices.Contains(allowedLicenses, id) {
			return fmt.Errorf("license of %s: %s is not allowed: replace the library, or add the license to "+
				"allowedLicenses if a program with the license Apache-2.0 may contain it", l.path, id)
		}
	}
	return nil
}

// consoleLicenses is the file with the license of each library of the console. A line such as
// "htm 3.1.1 (https://github.com/developit/htm)" precedes the text of a license.
const consoleLicenses = "overwatch/internal/operate/console/assets/vendor/LICENSES.txt"

var consoleLibrary = regexp.MustCompile(`(?m)^(\S+) (\d+\.\d+\.\d+) \((https://[^)]+)\).*\n`)

// consoleLibraries returns the libraries in the text of consoleLicenses.
func consoleLibraries(text string) (list []library, err error) {
	known, err := loadClassifier()
	if err != nil {
		return nil, err
	}
	headings := consoleLibrary.FindAllStringSubmatchIndex(text, -1)
	for i, at := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		l := library{path: strings.ToLower(text[at[2]:at[3]]), version: text[at[4]:at[5]], source: text[at[6]:at[7]],
			texts: []string{strings.Trim(text[at[1]:end], "\n")}}
		if l.licenses = licensesIn(known, []byte(l.texts[0])); len(l.licenses) == 0 {
			return nil, fmt.Errorf("license of %s: %s has no text of a known license", l.path, consoleLicenses)
		}
		if err := l.checkLicenses(); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no library", consoleLicenses)
	}
	return list, nil
}

// licensesIn returns the SPDX identifiers of the licenses in a text.
func licensesIn(known *classifier.Classifier, text []byte) (ids []string) {
	for _, match := range known.Match(text).Matches {
		if match.MatchType == "License" {
			ids = append(ids, match.Name)
		}
	}
	return ids
}

// thirdParty returns the list of libraries with the texts of their licenses.
func thirdParty(p program, list []library) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Libraries in %s, and their licenses\n\n", p.name)
	for _, l := range list {
		fmt.Fprintf(&b, "%-72s %s\n", l.path+" "+l.version, strings.Join(l.licenses, " AND "))
	}
	b.WriteString("\nThe source of each Go module is at https://proxy.golang.org/<path>/@v/<version>.zip, and the " +
		"source\nof std at https://go.dev/dl/.\n")
	for _, l := range list {
		if l.source != "" {
			fmt.Fprintf(&b, "The source of %s is at %s.\n", l.path, l.source)
		}
	}
	for _, l := range list {
		rule := strings.Repeat("-", 79)
		fmt.Fprintf(&b, "\n%s\n%s %s\n%s\n\n%s\n", rule, l.path, l.version, rule, strings.Join(l.texts, "\n\n"))
	}
	return []byte(b.String())
}
