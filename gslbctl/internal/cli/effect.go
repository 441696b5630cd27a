package cli

import "github.com/spf13/cobra"

// effect is the annotation with the effect of a command. The constants below are its values.
const effect = "effect"

const (
	// effectReads is the effect of a command that changes neither a node nor the contexts of this machine. It may write
	// the file that an argument names.
	effectReads = "reads"
	// effectChanges is the effect of a command that changes state which another command restores.
	effectChanges = "changes"
	// effectDestroys is the effect of a command that removes state which no single command restores. It requires
	// a confirmation or --yes.
	effectDestroys = "destroys"
)

// withEffect declares the effect of a command.
func withEffect(cmd *cobra.Command, value string) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[effect] = value
	return cmd
}

// reading declares that a command reads. Lists, menus and commands with --watch are declared where they are made.
func reading(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, effectReads) }

// changing declares that a command changes.
func changing(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, effectChanges) }

// destroying declares that a command destroys. Removals are declared where they are made.
func destroying(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, effectDestroys) }
