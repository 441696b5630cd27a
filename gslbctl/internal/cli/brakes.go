package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) brakesCommand() *cobra.Command {
	return group("brakes", "Show and release what is held of agents that call too much ill at once",
		a.brakesListCommand(), a.brakeReleaseCommand())
}

func (a *app) brakesListCommand() *cobra.Command {
	return lists(a, "list", "List the names whose agents are held",
		(*api.Client).Brakes, func(list api.BrakeList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "NAME"}, {Name: "AGENTS SAY"}, {Name: "HELD", Right: true}, {Name: "SINCE"},
					{Name: "BELIEVED"}},
				Empty: "No agents are held.",
			}
			for _, b := range list.Brakes {
				t.AddNamed(b.Service, render.C(b.Service), render.C(string(b.Concern)), number(len(b.Backends)),
					a.ago(&b.Since), render.C(render.Until(b.Until, a.Now())))
			}
			return t
		})
}

func (a *app) brakeReleaseCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "release <name>",
		Short: "Believe the agents of a name again",
		Long: "release ends the brake of a name: what its agents say counts at once, and backends that they call unhealthy " +
			"serve no more.\nIf the name would be left with too few, nothing is changed without --force.",
		Example:           "  gslbctl brakes release app.example.com",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.arguments(brakedNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			held, err := read(ctx, a, func(ctx context.Context, c *api.Client) ([]string, error) {
				return heldBackends(ctx, c, args[0])
			})
			if err != nil {
				return err
			}
			if len(held) > 0 {
				if ctx, err = a.careful(ctx, force, api.ConsequenceRequest{Backends: held}); err != nil {
					return err
				}
			} else if !force {
				ctx = api.IfSafe(ctx)
			}
			return a.change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				done, err := c.ReleaseBrake(ctx, args[0])
				return done.Message, err
			})
		},
	}
	forceFlag(cmd, &force)
	return cmd
}

// heldBackends returns the ids of the backends of a name that a brake keeps in answers although their agents call them
// unhealthy.
func heldBackends(ctx context.Context, c *api.Client, name string) (held []string, err error) {
	list, err := c.Brakes(ctx)
	for _, b := range list.Brakes {
		if sameName(b.Service, name) && b.Concern == api.BrakeUnhealthy {
			held = append(held, b.Backends...)
		}
	}
	return held, err
}

func brakedNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Brakes(ctx)
	return slices.Compact(each(list.Brakes, func(b api.Brake) string { return b.Service })), err
}
