package cli // inside: it uses app and exitNotAsked

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

// TestREADME_CommandLinesWork runs the indented lines of the README, in order, as one user.
func TestREADME_CommandLinesWork(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t)
	sys, _ := atHome(t, nil)
	t.Chdir(t.TempDir())
	ran := 0
	for line := range strings.Lines(string(text)) {
		command, found := strings.CutPrefix(line, "    gslbctl ")
		if !found {
			continue
		}
		command, _, _ = strings.Cut(command, " > ")
		command, _, _ = strings.Cut(command, " # ")
		r := call(t, sys, []*node{n}, shellWords(command)...)
		if r.code == fleet.NotAsked || r.errors != "" {
			t.Errorf("gslbctl %s: %+v", strings.TrimSpace(command), r)
		}
		ran++
	}
	if ran < 6 {
		t.Errorf("only %d lines found", ran)
	}
}

// Every command that help lists has an example, and every entry of examples belongs to such a command.
func TestHelp_EveryCommandHasAnExample(t *testing.T) {
	unused := examples()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "gslbctl ")
		if cmd.HasParent() && cmd.IsAvailableCommand() && cmd.Example == "" {
			t.Errorf("%s has no example: add a line to examples", path)
		}
		if cmd.IsAvailableCommand() {
			delete(unused, path)
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(newApp(cmdline.System{}).rootCommand())
	for path := range unused {
		t.Errorf("the example of %s has no command", path)
	}
	r := call(t, cmdline.System{}, nil, "servers", "--help")
	if !strings.Contains(r.out, "Examples:\n  gslbctl servers add ") {
		t.Errorf("the help of a group: %s", r.out)
	}
}

// The examples of --help contain only existing commands and flags.
func TestHelp_ExamplesAreUnderstood(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		example := strings.ReplaceAll(cmd.Example, "\\\n", " ")
		for line := range strings.Lines(example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " && ")
			line, _, _ = strings.Cut(line, " > ")
			line, isOurs := strings.CutPrefix(line, "gslbctl ")
			if !isOurs {
				continue
			}
			root := newApp(cmdline.System{}).rootCommand()
			found, rest, err := root.Find(shellWords(line))
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil || found.Name() != cmd.Name() && found.Parent().CommandPath() != cmd.CommandPath() {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
			}
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(newApp(cmdline.System{}).rootCommand())
}
