package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// unpinMany holds the flags of agents unpin that select many agents.
type unpinMany struct {
	service       string
	neverReported bool
	since         string
	dryRun        bool
}

func (a *app) agentsUnpinCommand() *cobra.Command {
	var yes, force bool
	var many unpinMany
	cmd := &cobra.Command{
		Use:   "unpin <agent> | --service <name> --never-reported|--since <time>",
		Short: "Delete the certificate pins of agents",
		Long: "unpin deletes the certificate pin of an agent, even of a revoked agent. The backends that only this\n" +
			"agent reports leave DNS immediately. The agent returns when it proves its service token with a new\n" +
			"certificate.\n\n" +
			"With --service, unpin deletes the pins of several agents: the agents that never reported, or the\n" +
			"agents pinned since a time. It skips revoked agents. These agents enroll again while their token is\n" +
			"accepted: lock or change the token first.\n\n" +
			"To move an agent to another machine, see \"Replace an agent\" in overwatch/docs/tasks.md.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(agentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("service") || len(args) == 0 {
				ctx := cmd.Context()
				if !force {
					ctx = api.IfSafe(ctx)
				}
				return a.unpinMany(ctx, many, args, yes)
			}
			if many != (unpinMany{}) {
				return errors.New("--never-reported, --since and --dry-run go with --service, not with an agent")
			}
			ctx, err := a.CheckConsequences(cmd.Context(), force, api.ConsequenceRequest{Agents: args, Removed: true})
			if err != nil {
				return err
			}
			if err := a.Confirm(cmd.Context(), yes,
				"Unpinning "+args[0]+" removes the backends that only this agent reports from DNS until it enrolls "+
					"again"); err != nil {
				return err
			}
			return a.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				out, err := c.Unpin(ctx, args[0])
				return out.Message, err
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&many.service, "service", "", "unpin agents of this service")
	flags.BoolVar(&many.neverReported, "never-reported", false, "unpin agents that never reported")
	flags.StringVar(&many.since, "since", "",
		"unpin agents pinned since this `time`: 2026-01-31T12:00:00Z, or an age such as 2h or 1d")
	flags.BoolVar(&many.dryRun, "dry-run", false, "list the agents, change nothing")
	_ = cmd.RegisterFlagCompletionFunc("service", a.Complete(serviceNames))
	cmdline.YesFlag(cmd, &yes)
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

// filter checks the flags and returns the filter of the API.
func (m unpinMany) filter(now time.Time) (f api.UnpinFilter, err error) {
	f = api.UnpinFilter{Service: m.service, NeverReported: m.neverReported}
	if m.service == "" {
		return f, errors.New("name an agent, or with --service a service")
	}
	if m.since == "" && !m.neverReported {
		return f, errors.New("--service needs --never-reported or --since, to select its agents")
	}
	if m.since == "" {
		return f, nil
	}
	if ago, err := cmdline.ParseSpan(m.since); err == nil && ago > 0 {
		f.PinnedSince = now.Add(-ago)
		return f, nil
	}
	if f.PinnedSince, err = time.Parse(time.RFC3339, m.since); err != nil {
		return f, fmt.Errorf("--since is %q: want a time such as 2026-01-31T12:00:00Z, or a duration such as 2h",
			m.since)
	}
	return f, nil
}

func (a *app) unpinMany(ctx context.Context, m unpinMany, args []string, yes bool) error {
	if len(args) > 0 {
		return errors.New("name an agent, or give --service, not both")
	}
	filter, err := m.filter(a.Now())
	if err != nil {
		return err
	}
	if m.dryRun {
		return a.tellUnpin(ctx, filter)
	}
	whom := "agents of " + m.service
	if !yes && a.Asks {
		most, err := a.countUnpin(ctx, filter)
		if err != nil {
			return err
		}
		whom = render.Count(most, "agent", "agents")
	}
	if err := a.Confirm(ctx, yes,
		"Unpinning "+whom+" removes the backends that only these agents report from DNS until they enroll "+
			"again"); err != nil {
		return err
	}
	return a.ChangeEach(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		done, err := unpinAll(ctx, c, filter)
		said := render.Count(done, "agent is", "agents are") + " unpinned"
		if err != nil {
			return "", fleet.After(done, said, err)
		}
		return said, nil
	})
}

// unpinAll calls the API until no selected agent is left, or a call unpins no agent. It returns the number of unpinned
// agents.
func unpinAll(ctx context.Context, c *api.Client, f api.UnpinFilter) (done int, err error) {
	for {
		out, err := c.UnpinMany(ctx, f, false)
		done += len(out.Unpinned)
		if err != nil || out.Remaining == 0 || len(out.Unpinned) == 0 {
			return done, err
		}
	}
}

// countUnpin returns the number of selected agents on the node with the most selected agents.
func (a *app) countUnpin(ctx context.Context, f api.UnpinFilter) (most int, err error) {
	replies, err := fleet.AskAll(ctx, a.Fleet, fleet.Asking, selected(f))
	for _, r := range replies {
		if r.Err != nil && len(replies) == 1 {
			return 0, r.Err
		}
		most = max(most, r.Value.Remaining)
	}
	return most, err
}

// selected returns the request that lists the selected agents.
func selected(f api.UnpinFilter) fleet.Request[api.Unpinned] {
	return func(ctx context.Context, c *api.Client) (api.Unpinned, error) { return c.UnpinMany(ctx, f, true) }
}

// tellUnpin prints the agents that would be unpinned, according to the first node that answers.
func (a *app) tellUnpin(ctx context.Context, f api.UnpinFilter) error {
	out, err := fleet.First(ctx, a.Fleet, selected(f))
	if err != nil {
		return err
	}
	t := &render.Table{Columns: []render.Column{{Name: "AGENT"}}, Empty: "No agent matches."}
	for _, id := range out.Unpinned {
		t.Add(render.C(id))
	}
	if more := out.Remaining - len(out.Unpinned); more > 0 {
		t.Add(render.C(fmt.Sprintf("and %d more", more)))
	}
	return a.Print(out, a.Table(t))
}
