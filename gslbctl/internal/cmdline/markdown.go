package cmdline

import (
	"strings"

	"github.com/spf13/cobra"
)

// EscapeMarkdown escapes the help texts of cmd and its subcommands. The generator of manual pages parses them as
// Markdown, where <name> is an HTML element.
func EscapeMarkdown(cmd *cobra.Command) {
	escape := strings.NewReplacer("<", `\<`, ">", `\>`, "*", `\*`, "_", `\_`).Replace
	cmd.Use, cmd.Short, cmd.Long = escape(cmd.Use), escape(cmd.Short), escape(cmd.Long)
	for _, child := range cmd.Commands() {
		EscapeMarkdown(child)
	}
}
