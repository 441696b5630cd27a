package cmdline

import (
	"github.com/spf13/cobra"
)

// Effect is the name of the annotation with the effect of a command. The constants below are its values.
const Effect = "effect"

const (
	// Reads is the effect of a command that changes neither a node nor the contexts of this machine. It may write
	// the file that an argument names.
	Reads = "reads"
	// Changes is the effect of a command with a change that another command reverts.
	Changes = "changes"
	// Destroys is the effect of a command that removes state permanently. It requires a confirmation or --yes.
	Destroys = "destroys"
)

// withEffect annotates a command with its effect.
func withEffect(cmd *cobra.Command, value string) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[Effect] = value
	return cmd
}

// Reading annotates a command as read-only. ListCommand, Menu and Watchable do it for their commands.
func Reading(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, Reads) }

// Changing annotates a command as changing.
func Changing(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, Changes) }

// Destroying annotates a command as destroying. Removal commands already have this annotation.
func Destroying(cmd *cobra.Command) *cobra.Command { return withEffect(cmd, Destroys) }
