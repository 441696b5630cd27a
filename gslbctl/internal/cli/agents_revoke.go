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
		Short: "Revoke an agent and its certificate",
		Long: "revoke rejects an agent until it is unpinned. The backends that only this agent reports leave DNS\n" +
			"immediately. Revoke an agent if its machine or its key may be compromised. Add --lock-service,\n" +
			"because the machine also has the service tokens, and an attacker can enroll again with another agent\n" +
			"id. A locked token enrolls no new agent until the token changes. Agents with a pin stay.\n\n" +
			"For an agent that is decommissioned, use gslbctl agents remove.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(agentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, err := a.CheckConsequences(cmd.Context(), force, api.ConsequenceRequest{Agents: args, Removed: true})
			if err != nil {
				return err
			}
			if err := a.Confirm(cmd.Context(), yes,
				"Revoking "+args[0]+" removes the backends that only this agent reports from DNS"); err != nil {
				return err
			}
			return a.revoke(ctx, args[0], req)
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "the reason, for other operators")
	cmd.Flags().BoolVar(&req.LockService, "lock-service", false,
		"lock the tokens of its services: they enroll no new agent until they change")
	cmdline.Require(cmd, [2]string{"reason", "the reason, for other operators, such as --reason \"laptop lost\""})
	cmdline.YesFlag(cmd, &yes)
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

// revoke revokes an agent on every node and prints the next steps once.
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
	return cmdline.ListCommand(a.App, "locks", "List services with a locked enrollment token",
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
		use: "unlock <service>", short: "Unlock the enrollment token of a service",
		long: "unlock ends the lock of agents revoke --lock-service before the token has changed. Anyone with the\n" +
			"token can enroll an agent again. A changed token ends the lock automatically.",
		shared:   true,
		question: "Unlocking %s lets anyone with its token enroll an agent",
		apply: func(ctx context.Context, c *api.Client, service string) (string, error) {
			out, err := c.UnlockToken(ctx, service)
			return out.Message, err
		},
	})
}
