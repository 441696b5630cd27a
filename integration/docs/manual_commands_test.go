package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// Each gslbctl line of a manual, in its text or as an example, is an existing command with existing flags.
func TestManuals_CommandsExist(t *testing.T) {
	lines := regexp.MustCompile("(?:`|(?m:^ {4}))gslbctl ([a-z][^`#\n]*)")
	control, tried := testbed.Binaries(t).Control, map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || strings.Contains(path, "/integration/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range lines.FindAllStringSubmatch(string(text), -1) {
			words, flags := strings.Fields(m[1]), regexp.MustCompile(`--[a-z-]+`).FindAllString(m[1], -1)
			if at := slices.IndexFunc(words, func(w string) bool {
				return !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(
					w)
			}); at >= 0 {
				words = words[:at]
			}
			line := strings.Join(words, " ")
			usage, there := tried[line]
			if !there {
				r := testbed.Command(t, append(append([]string{control}, words...), "--help")...)
				usage, tried[line] = r.Output, r.Output
			}
			// An unknown command is treated as an argument of the parent command. The usage line of the parent command is then
			// shown.
			before := strings.Join(words[:len(words)-1], " ")
			if !strings.Contains(usage, "gslbctl "+line) && !strings.Contains(usage, "gslbctl "+before+" <") {
				t.Errorf("%s: there is no gslbctl %s", path, line)
			}
			for _, flag := range flags {
				if !strings.Contains(usage, flag) {
					t.Errorf("%s: gslbctl %s has no %s", path, line, flag)
				}
			}
		}
		return err
	})
	if err != nil || len(tried) < 10 {
		t.Errorf("%d commands tried: %v", len(tried), err)
	}
}
