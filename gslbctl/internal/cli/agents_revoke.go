package cli

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) agentsRevokeCommand() *cobra.Command {
	var yes, force bool
	var req api.RevokeRequest
	cmd := &cobra.Command{
		Use:   "revoke <agent> --reason <text>",
		Short: "Refuse an agent from now on",
		Long: "revoke refuses an agent at once and until it is unpinned. What it reported leaves at once.\n" +
			"Revoke when a machine or its key may be in the wrong hands, and with --lock-service: whoever has the\n" +
			"machine has its service tokens too, and could come back under another id. Locked tokens admit nobody\n" +
			"new until they are changed; agents that are pinned go on.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(agentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Confirm(cmd.Context(), yes,
				"Revoking "+args[0]+" takes the backends that only it reports out of DNS"); err != nil {
				return err
			}
			ctx, err := a.CheckConsequences(cmd.Context(), force, api.ConsequenceRequest{Agents: args, Removed: true})
			if err != nil {
				return err
			}
			return a.revoke(ctx, args[0], req)
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for whoever finds it later")
	cmd.Flags().BoolVar(&req.LockService, "lock-service", false,
		"have the tokens of its services admit no new agents until they are changed")
	cmdline.Require(cmd, [2]string{"reason", "why, for whoever finds it later, such as --reason \"laptop lost\""})
	cmdline.YesFlag(cmd, &yes)
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

// revoke revokes an agent, for every node, and shows the next steps once.
func (a *app) revoke(ctx context.Context, id string, req api.RevokeRequest) error {
	var mu sync.Mutex
	var next []string
	err := a.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		out, err := c.Revoke(ctx, id, req)
		mu.Lock()
		defer mu.Unlock()
		if len(out.Next) > len(next) {
			next = out.Next
		}
		return out.Message, err
	})
	if a.ForPeople() && len(next) > 0 {
		fmt.Fprintln(a.Err, "What to do next:")
		for i, step := range next {
			fmt.Fprintf(a.Err, "%d. %s\n", i+1, render.Printable(step))
		}
	}
	return err
}

func (a *app) agentsLocksCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "locks", "List services whose tokens admit no new agents",
		(*api.Client).TokenLocks, func(list api.TokenLockList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "SERVICE"}, {Name: "LOCKED"}, {Name: "TOKEN"}, {Name: "AGENT"},
					{Name: "REASON"}},
				Empty: "No token is locked.",
			}
			for _, l := range list.Locks {
				token := render.Cell{Text: "change it", Tone: render.Bad}
				if l.AdmitsNew {
					token = render.Cell{Text: "changed, remove the previous one", Tone: render.Warn}
				}
				t.AddNamed(l.Service, render.C(l.Service), a.Ago(&l.LockedAt), token, orNone(l.AgentID),
					orNone(l.Reason))
			}
			return t
		})
}

func (a *app) agentsUnlockCommand() *cobra.Command {
	return a.removal(removal{
		use: "unlock <service>", short: "Have the locked tokens of a service admit new agents again",
		long: "unlock ends what revoke --lock-service began, without a changed token: whoever has the token may " +
			"enrol " +
			"" +
			"again.\n" +
			"A changed token ends it by itself.",
		shared:   true,
		question: "Unlocking %s admits everybody who has its token, also whoever stole it",
		apply: func(ctx context.Context, c *api.Client, service string) (string, error) {
			out, err := c.UnlockToken(ctx, service)
			return out.Message, err
		},
	})
}
