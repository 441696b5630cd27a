package console_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/operate/console"
)

// budget is the maximum size of the assets for a browser, in bytes.
const budget = 400_000

// inline matches code and style in the page itself, which the policy would block.
var inline = regexp.MustCompile(`<script>|<style|\sstyle=|\son[a-z]+=|javascript:`)

var imported = regexp.MustCompile(`from '(\./|\.\./)([^']+)'`)

func TestFiles_AreSmallAndWhole(t *testing.T) {
	files, size := map[string]string{}, 0
	for _, f := range console.Files() {
		files[f.Path] = string(f.Content)
		if !strings.HasSuffix(f.Path, ".txt") { // licences and sums are not loaded
			size += len(f.Content)
		}
	}
	if size > budget || files["/"] == "" {
		t.Errorf("%d files have %d bytes together, at most %d may be", len(files), size, budget)
	}
	if found := inline.FindAllString(files["/"], -1); found != nil {
		t.Errorf("the page has %q, which its policy stops", found)
	}
	for name, text := range files {
		if strings.Contains(name, "/vendor/") {
			continue
		}
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			if target := path.Join(path.Dir(name), m[1]+m[2]); files[target] == "" {
				t.Errorf("%s imports %s, which is not there", name, target)
			}
		}
		if strings.Contains(text, "innerHTML") || strings.Contains(text, "eval(") {
			t.Errorf("%s makes code of text", name)
		}
	}
}
