package cmdline

import (
	"github.com/spf13/cobra"
)

// Effect is the annotation with the effect of a command. The constants below are its values.
const Effect = "effect"

const (
	// Reads is the effect of a command that changes neither a node nor the contexts of this machine. It may write
	// the file that an argument names.
	Reads = "reads"
	// Changes is the effect of a command that changes state which another command restores.
	Changes = "changes"
	// Destroys is the effect of a command that removes state which no single command restores. It requires
	// a confirmation or --yes.
	Destroys = "destroys"
)

// withEffect declares the effect of a command.
func withEffect(cmd *cobra.Command, value string) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[Effect] = value
	return cmd
}

// Reading declares that a command reads. Lists, menus and commands with --watch are declared where they are made.
func Reading(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, Reads) }

// Changing declares that a command changes.
func Changing(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, Changes) }

// Destroying declares that a command destroys. Removals are declared where they are made.
func Destroying(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, Destroys) }
