package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"gslb.internal/gslbctl/internal/cmdline"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man <directory>",
		Short: "Generate manual pages",
		Long: "man writes gslbctl.1 and a manual page for each command into a directory. Packages contain the " +
			"pages; otherwise run:\n\n  gslbctl man ~/.local/share/man/man1",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			header := &doc.GenManHeader{Title: "GSLBCTL", Section: "1", Source: "gslbctl " + a.Build.Version,
				Manual: "gslb"}
			// The build time makes the pages reproducible.
			if built, err := time.Parse(time.RFC3339, a.Build.BuildDate); err == nil {
				header.Date = &built
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			cmdline.EscapeMarkdown(root)
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("writing the manual pages: %w", err)
			}
			return nil
		},
	}
}
