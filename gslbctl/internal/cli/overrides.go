package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) overridesCommand() *cobra.Command {
	return cmdline.Group("overrides", "List, set and clear health overrides", a.overridesListCommand(),
		cmdline.Changing(a.overrideSetCommand()),
		cmdline.Changing(a.overrideClearCommand()))
}

func (a *app) overridesListCommand() *cobra.Command {
	var tag string
	ask := func(c *api.Client, ctx context.Context) (api.OverrideList, error) {
		list, err := c.Overrides(ctx)
		if err != nil || tag == "" {
			return list, err
		}
		without, err := untagged(ctx, c, tag)
		list.Overrides = slices.DeleteFunc(list.Overrides, func(o api.Override) bool { return without(o.Service) })
		list.Total = len(list.Overrides)
		return list, err
	}
	cmd := cmdline.ListCommand(a.App, "list", "List active and planned overrides",
		ask, func(list api.OverrideList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "VERDICT"}, {Name: "REASON",
					Spare: 2},
					{Name: "BY", Spare: 3}, {Name: "SET", Spare: 4}, {Name: "ENDS", Spare: 1}, {Name: "SOURCE",
						Wide: true}},
				Empty: "There are no active or planned overrides.",
			}
			for _, o := range list.Overrides {
				reason := render.C(o.Reason)
				if o.StartsAt != nil && !o.InForce {
					reason = render.C("planned: " + o.Reason)
				}
				t.AddNamed(o.Service+" "+o.Address, render.C(o.Service), render.C(o.Address), verdictCell(&o.Healthy),
					reason, render.C(o.CreatedBy), a.Ago(&o.CreatedAt), a.Moment(o.ExpiresAt, "never"),
					orNone(o.Source))
			}
			return t
		})
	a.tagFlag(cmd, &tag)
	return cmd
}

// overrideSource is the source of overrides that gslbctl sets.
const overrideSource = "gslbctl"

func (a *app) overrideSetCommand() *cobra.Command {
	var healthy bool
	var reason string
	var when window
	var force bool
	cmd := &cobra.Command{
		Use:   "set " + backendForms + " --healthy=true|false --reason <text>",
		Short: "Override the health of a backend",
		Long: "set overrides the health of a backend until the override is cleared or expires. DNS has changed when\n" +
			"the command returns. An address without a service selects the backend at this address on the nodes.\n" +
			"A service and an address can also be two arguments; without a port they select all ports of the\n" +
			"address. A drained backend does not serve, even with an override of healthy.",
		Example: "  gslbctl overrides set app.example.com:192.0.2.10:443 --healthy=false --reason \"kernel update\" " +
			"--expires-in 30m",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.backendArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg == "true" || arg == "false" {
					return fmt.Errorf("the address is %q: write --healthy=%s", arg, arg)
				}
			}
			req := api.OverrideRequest{Healthy: &healthy, Reason: reason, Source: overrideSource}
			var err error
			if req.StartsAt, req.ExpiresIn, err = when.read(cmd, a.Now()); err != nil {
				return err
			}
			ctx := cmd.Context()
			name, err := a.backendArgument(ctx, args, allBackends)
			if err != nil {
				return err
			}
			if taken, _ := a.backendsOf(ctx, name); !healthy && len(taken) > 0 {
				change := api.ConsequenceRequest{Backends: allIDs(taken), Removed: true}
				if ctx, err = a.CheckConsequences(ctx, force, change); err != nil {
					return err
				}
			}
			return a.Change(when.replacing(ctx), func(ctx context.Context, c *api.Client) (string, error) {
				o, err := c.SetOverride(ctx, name.service, name.endpoint(), req)
				return overrideSentence(o, a.Now()), err
			})
		},
	}
	cmd.Flags().BoolVar(&healthy, "healthy", false, "the health: --healthy=true or --healthy=false")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, for other operators")
	windowFlags(cmd, &when)
	cmdline.Require(cmd, [2]string{"healthy", "give the health, --healthy=true or --healthy=false"},
		[2]string{"reason", "the reason, for other operators, such as --reason \"kernel update\""})
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

func overrideSentence(o api.Override, now time.Time) string {
	verdict, ends := "unhealthy", "until the override is cleared"
	if o.Healthy {
		verdict = "healthy"
	}
	if o.StartsAt != nil && o.StartsAt.After(now) {
		if o.ExpiresAt != nil {
			ends = "until " + cmdline.Zoned(*o.ExpiresAt, now)
		}
		return fmt.Sprintf("%s %s will be %s%s %s", o.Service, o.Address, verdict, begins(o.StartsAt, now), ends)
	}
	if o.ExpiresAt != nil {
		ends = "for " + render.Span(o.ExpiresAt.Sub(now).Round(time.Second))
	}
	return fmt.Sprintf("%s %s is %s %s", o.Service, o.Address, verdict, ends)
}

func (a *app) overrideClearCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clear " + backendForms,
		Short: "Clear the override of a backend",
		Long: "clear removes the override of a backend. An address without a service selects the override at this\n" +
			"address. A service and an address can also be two arguments.",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.overrideArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := a.overrideArgument(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return fmt.Sprintf("the override of %s %s is cleared", name.service, name.endpoint()),
					c.ClearOverride(ctx, name.service, name.endpoint())
			})
		},
	}
}

// overriddenBackends returns the backends with an override on a node. Only ID, Service, Address and Port are set. Port
// is 0 for an override of all ports.
func overriddenBackends(ctx context.Context, c *api.Client) (api.BackendList, error) {
	list, err := c.Overrides(ctx)
	var found api.BackendList
	for _, o := range list.Overrides {
		if names := backendNames(o.Address); len(names) > 0 {
			found.Backends = append(found.Backends, api.Backend{ID: o.Service + ":" + o.Address, Service: o.Service,
				Address: names[0].address.String(), Port: names[0].port})
		}
	}
	return found, err
}
