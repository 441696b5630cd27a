package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

// removal describes a command that removes one object on every node, after a confirmation.
type removal struct {
	use, short, long string
	names            cmdline.Names // completes the argument; nil: no completion
	// object returns the name of the object from the argument; nil: the argument is the name.
	object      func(ctx context.Context, arg string) (string, error)
	backend     bool                                     // the argument is a backend, and can be two arguments
	consequence func(name string) api.ConsequenceRequest // runs first; nil: the removal is always safe
	shared      bool                                     // nodes replicate the change
	question    string                                   // text of the confirmation, with %s for the argument
	apply       func(ctx context.Context, c *api.Client, name string) (done string, err error)
}

func (a *app) removal(r removal) *cobra.Command {
	var yes, force bool
	accepted := cobra.ExactArgs(1)
	if r.backend {
		accepted = cobra.RangeArgs(1, 2)
	}
	cmd := &cobra.Command{
		Use: r.use, Short: r.short, Long: r.long, Args: accepted,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx, name := cmd.Context(), args[0]
			if r.backend {
				if name, err = joinBackend(args); err != nil {
					return err
				}
			}
			if r.object != nil {
				if name, err = r.object(ctx, name); err != nil {
					return err
				}
			}
			if r.consequence != nil {
				if ctx, err = a.CheckConsequences(ctx, force, r.consequence(name)); err != nil {
					return err
				}
			}
			if err := a.Confirm(cmd.Context(), yes, fmt.Sprintf(r.question, name)); err != nil {
				return err
			}
			change := a.ChangeEach
			if r.shared {
				change = a.Change
			}
			return change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				return r.apply(ctx, c, name)
			})
		},
	}
	if r.names != nil {
		cmd.ValidArgsFunction = a.CompleteArguments(r.names)
	}
	cmdline.YesFlag(cmd, &yes)
	if r.consequence != nil {
		cmdline.ForceFlag(cmd, &force)
	}
	return cmdline.Destroying(cmd)
}

// deleting returns the function apply of a removal that sends one request. done is the success message, with %s for the
// name.
func deleting(request func(*api.Client, context.Context, string) error,
	done string) func(context.Context, *api.Client, string) (string, error) {
	return func(ctx context.Context, c *api.Client, name string) (string, error) {
		return fmt.Sprintf(done, name), request(c, ctx, name)
	}
}

// agentConsequence returns the request for the names that would have too few backends without an agent.
func agentConsequence(id string) api.ConsequenceRequest {
	return api.ConsequenceRequest{Agents: []string{id}, Removed: true}
}
