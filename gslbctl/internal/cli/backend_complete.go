package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// backendArguments completes the id of a backend, or a service and then the addresses of its backends.
func (a *app) backendArguments(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.Complete(backendsAndServices)(cmd, args, typed)
	case 1:
		return a.Complete(endpointsOf(args[0]))(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// overrideArguments completes the services and addresses of overrides, and the ids of their backends.
func (a *app) overrideArguments(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.Complete(func(ctx context.Context, c *api.Client) ([]string, error) {
		list, err := c.Overrides(ctx)
		var found []string
		for _, o := range list.Overrides {
			if len(args) == 0 {
				found = append(found, o.Service+":"+strings.NewReplacer("[", "", "]", "").Replace(o.Address), o.Service)
			} else if o.Service == args[0] {
				found = append(found, o.Address)
			}
		}
		return found, err
	})(cmd, args, typed)
}
