package cli // inside: it uses app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
)

func TestMan_HasAPageForEveryCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if r := call(t, cmdline.System{}, nil, "man", dir); r.code != 0 || r.out+r.errors != "" {
		t.Fatalf("%+v", r)
	}
	pages := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		text, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
		}
		for _, word := range strings.Fields(cmd.Use) {
			if strings.HasPrefix(word, "<") && !strings.Contains(string(text), strings.Trim(strings.Split(word, "|")[0],
				"[]")) {
				t.Errorf("%s does not have %s", name, word)
			}
		}
		pages++
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(newApp(cmdline.System{}).rootCommand())
	if pages < 50 {
		t.Errorf("only %d pages", pages)
	}
	first, err := os.ReadFile(filepath.Join(dir, "gslbctl.1"))
	if err != nil || !strings.Contains(string(first), "Exit codes") || !strings.Contains(string(first), "Jan 2026") {
		t.Errorf("%v\n%s", err, first)
	}
}
