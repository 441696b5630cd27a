package cmdline

import (
	"strings"

	"github.com/spf13/cobra"
)

// OldNames maps old names of commands to current names, both without the program name. Until version 2.0, a command
// with an old name runs and prints a warning. Help, completion and the reference omit old names.
type OldNames map[string]string

// Hide hides the commands with an old name.
func (o OldNames) Hide(root *cobra.Command) {
	for name := range o {
		if cmd, rest, err := root.Find(strings.Fields(name)); err == nil && len(rest) == 0 {
			cmd.Hidden = true
		}
	}
}

// Warn prints a warning to standard error if the command has an old name.
func (o OldNames) Warn(cmd *cobra.Command) {
	root := cmd.Root().Name() + " "
	if name, old := o[strings.TrimPrefix(cmd.CommandPath(), root)]; old {
		cmd.PrintErrf("%s is an old name, which version 2.0 removes: use %s\n", cmd.CommandPath(), root+name)
	}
}
