package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// lastChange stands for the newest change of whoever asks.
const lastChange = "last"

func (a *app) undoCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "undo [<audit id>]",
		Short: "Take your last change back, or that of an audit entry",
		Long: "undo gives an override, a weight or a drain back that was there before, or none, and undoes that a " +
			"domain, a server, a\nregion or a mapping was made, changed or removed by the API. Without an id it is your " +
			"last change on each node; the\nnumbers of audit entries are each node's own, so that an id needs one node. " +
			"It is refused where a later change stands\non it. The undoing can be undone.",
		Example:           "  gslbctl undo\n  gslbctl --api ns1.example.com:8080 undo 1042",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			entry, ctx := lastChange, cmd.Context()
			if len(args) == 1 {
				entry = args[0]
				if _, err := strconv.ParseUint(entry, 10, 64); err != nil {
					return fmt.Errorf("the id is %q: it must be the number of an audit entry, as gslbctl audit lists them", entry)
				}
				nodes, err := a.clients()
				if err != nil {
					return err
				}
				if len(nodes) != 1 {
					return errors.New("the numbers of audit entries are each node's own: name one node with --api, " +
						"or leave the id out")
				}
			}
			if !force {
				ctx = api.IfSafe(ctx)
			}
			return a.change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				undone, err := c.Undo(ctx, entry)
				return undone.Message, err
			})
		},
	}
	forceFlag(cmd, &force)
	return cmd
}
