package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// oldNames returns the old names of commands, each with the name that replaces it. Until version 2.0 an old name still
// runs; help, completion and the manual pages omit it.
func oldNames() map[string]string {
	return map[string]string{
		"backends override":       "overrides",
		"backends override clear": "overrides clear",
		"backends override set":   "overrides set",
		"gossip config":           "config show gossip",
		"gossip generate-key":     "keygen gossip",
		"nodes revoke":            "agents revoke",
		"servers drain":           "drain",
		"servers undrain":         "undrain",
	}
}

// hideOldNames hides the commands with an old name from help, completion and the manual pages.
func hideOldNames(root *cobra.Command) {
	for name := range oldNames() {
		if cmd, rest, err := root.Find(strings.Fields(name)); err == nil && len(rest) == 0 {
			cmd.Hidden = true
		}
	}
}

// warnOldName prints a note if the command has an old name.
func (a *app) warnOldName(cmd *cobra.Command) {
	root := cmd.Root().Name() + " "
	if name, old := oldNames()[strings.TrimPrefix(cmd.CommandPath(), root)]; old {
		fmt.Fprintf(a.Err, "%s is an old name, which version 2.0 removes: use %s\n", cmd.CommandPath(), root+name)
	}
}
