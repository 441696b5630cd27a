package cli // inside: it uses newApp

import (
	"os"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

const reference = "../../docs/commands.md"

// The reference contains the current commands and flags; -update writes it.
func TestReference_IsCurrent(t *testing.T) {
	got := referencePage(newApp(cmdline.System{}).rootCommand())
	if *update {
		if err := os.WriteFile(reference, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(reference)
	if err != nil || got != string(want) {
		t.Errorf("%s is not current (%v): run go test ./internal/cli -run Reference -update", reference, err)
	}
	for name := range oldNames() {
		if strings.Contains(got, "\n### "+name+"\n") {
			t.Errorf("the reference lists the old name %s", name)
		}
	}
}

// The README has the exit codes of --help.
func TestREADME_HasTheExitCodes(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(string(text), "`", "")
	for line := range strings.Lines(fleet.ExitCodes) {
		if words := strings.SplitN(strings.TrimSpace(line), "  ", 2); len(words) == 2 &&
			!strings.Contains(plain, "| "+words[0]+" | "+strings.TrimSpace(words[1])+" |") {
			t.Errorf("the exit code %q is not in the README", strings.TrimSpace(line))
		}
	}
}
