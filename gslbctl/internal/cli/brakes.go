package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) brakesCommand() *cobra.Command {
	return cmdline.Group("brakes", "List and release held agent reports: mass-failure protection keeps backends in DNS",
		a.brakesListCommand(),
		cmdline.Changing(a.brakeReleaseCommand()))
}

func (a *app) brakesListCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "list", "List agent reports that mass-failure protection holds",
		(*api.Client).Brakes, func(list api.BrakeList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "HOLD"}, {Name: "AGENT"}, {Name: "AGENTS SAY"}, {Name: "HELD",
					Right: true},
					{Name: "SINCE"}, {Name: "BELIEVED"}},
				Empty: "There are no mass-failure holds.",
			}
			for _, b := range list.Brakes {
				subject := holdName(&b)
				believed := "never"
				if !b.Until.IsZero() {
					believed = render.Until(b.Until, a.Now())
				}
				t.AddNamed(subject, render.C(subject), orNone(b.Agent), render.C(string(b.Concern)),
					number(len(b.Backends)),
					a.Ago(&b.Since), render.C(believed))
			}
			return t
		})
}

// holdName returns the name of a hold: a domain, or the kind and name of a region or an agent.
func holdName(b *api.Brake) string {
	scope, subject := b.Scope()
	if scope == api.BrakeOfName {
		return subject
	}
	return scope + " " + subject
}

func (a *app) brakeReleaseCommand() *cobra.Command {
	var force bool
	var agent, region string
	cmd := &cobra.Command{
		Use:   "release {<name> | --region <region> | --agent <id>}",
		Short: "Release agent reports that mass-failure protection holds",
		Long: "release ends the hold of a name, a region or an agent: mass-failure protection holds agent reports\n" +
			"that would remove too many backends at once. After the release, the reports take effect immediately,\n" +
			"and backends that agents report unhealthy leave the answers. If a name would have fewer backends\n" +
			"than it needs, release requires --force.",
		Example:           "  gslbctl brakes release app.example.com\n  gslbctl brakes release --region eu",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(brakedNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, subject, err := scopeOf(args, region, agent)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			held, err := fleet.First(ctx, a.Fleet, func(ctx context.Context, c *api.Client) ([]string, error) {
				return heldBackends(ctx, c, scope, subject)
			})
			if err != nil {
				return err
			}
			if len(held) > 0 {
				if ctx, err = a.CheckConsequences(ctx, force, api.ConsequenceRequest{Backends: held}); err != nil {
					return err
				}
			} else if !force {
				ctx = api.IfSafe(ctx)
			}
			return a.ChangeEach(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				done, err := c.ReleaseBrake(ctx, scope, subject)
				return done.Message, err
			})
		},
	}
	cmd.Flags().StringVar(&region, "region", "", "release the hold of this region")
	cmd.Flags().StringVar(&agent, "agent", "", "release the hold of this agent")
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

// scopeOf returns the hold that the arguments or one of the two flags select.
func scopeOf(args []string, region, agent string) (scope, subject string, err error) {
	given := len(args)
	if given > 0 {
		scope, subject = api.BrakeOfName, args[0]
	}
	if region != "" {
		scope, subject, given = api.BrakeOfRegion, region, given+1
	}
	if agent != "" {
		scope, subject, given = api.BrakeOfAgent, agent, given+1
	}
	if given != 1 {
		return "", "", errors.New("name, --region, --agent: give exactly one of them")
	}
	return scope, subject, nil
}

// heldBackends returns the ids of the backends that serve because of a hold, although their agents report them
// unhealthy. For a name, the result includes the backends in the holds of its regions and agents.
func heldBackends(ctx context.Context, c *api.Client, scope, subject string) (held []string, err error) {
	list, err := c.Brakes(ctx)
	for _, b := range list.Brakes {
		if b.Concern != api.BrakeUnhealthy {
			continue
		}
		kind, name := b.Scope()
		for _, id := range b.Backends {
			if kind == scope && (name == subject || kind == api.BrakeOfName && sameName(name, subject)) ||
				scope == api.BrakeOfName && isOfName(id, subject) {
				held = append(held, id)
			}
		}
	}
	return held, err
}

// isOfName reports whether the id of a backend begins with a name.
func isOfName(id, name string) bool {
	service, _, _ := strings.Cut(id, ":")
	return sameName(service, name)
}

func brakedNames(ctx context.Context, c *api.Client) (names []string, err error) {
	list, err := c.Brakes(ctx)
	for _, b := range list.Brakes {
		if b.Service != "" {
			names = append(names, b.Service)
		}
	}
	return slices.Compact(names), err
}
