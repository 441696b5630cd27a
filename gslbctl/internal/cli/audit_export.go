package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// auditFormats are the formats of an export.
func auditFormats() []string { return []string{"json", "ndjson", "csv"} }

func (a *app) auditExportCommand() *cobra.Command {
	var format, path string
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Export the audit log of a node",
		Long: "export writes the audit log of one node with its hash chain, so that the log can be verified later.\n" +
			"It reads the node of --node, or else the first node that answers, and prints its name.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(auditFormats(), format) {
				return fmt.Errorf("--format is %q: it must be one of %s", format, strings.Join(auditFormats(), ", "))
			}
			query, err := f.query(a.Now())
			if err != nil {
				return err
			}
			query.Set("format", format)
			query.Set("sort_order", "asc")
			export := func(w io.Writer) error {
				from, err := fleet.First(cmd.Context(), a.Fleet, func(ctx context.Context, c *api.Client) (string,
					error) {
					return c.Node(), c.ExportAudit(ctx, query, w)
				})
				if clients, _ := a.Clients(); err == nil && len(clients) > 1 {
					fmt.Fprintf(a.Err, "gslbctl: this is the log of %s; --node selects another node\n", from)
				}
				return err
			}
			if path == "" {
				return export(a.Out)
			}
			if err := writeNew(path, export); err != nil {
				return fmt.Errorf("--file: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "json", "`format`: "+strings.Join(auditFormats(), ", "))
	cmd.Flags().StringVar(&path, "file", "", "new `file` to write (default standard output)")
	f.period.Flags(cmd)
	f.add(cmd)
	a.NodeFlag(cmd)
	cmdline.Offer(cmd, "format", auditFormats())
	return cmd
}
