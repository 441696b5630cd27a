package cli

import (
	"context"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

func (a *app) geoSetCommand() *cobra.Command {
	var req api.GeoMappingChange
	cmd := &cobra.Command{
		Use:     "set <network> <region>",
		Short:   "Place the clients of a network in a region, whatever the database says",
		Example: "  gslbctl geo set 203.0.113.0/24 eu --comment \"the office\"",
		Args:    cobra.ExactArgs(2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return a.completion(mappedNetworks)(cmd, args, typed)
			case 1:
				return a.completion(allRegionNames)(cmd, args, typed)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			req.CIDR, req.Region = args[0], &args[1]
			return a.share(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				m, err := c.PutGeoMapping(ctx, req)
				return "clients of " + m.CIDR + " are in " + m.Region, err
			})
		},
	}
	optional(cmd, cmd.Flags().StringVar, &req.Comment, "comment", "", "what it is, for people")
	return cmd
}

func (a *app) geoRemoveCommand() *cobra.Command {
	return a.removal(removal{
		use: "remove <network>", short: "Delete a mapping that was made with set",
		shared:   true,
		names:    mappedNetworks,
		question: "removing the mapping of %s leads its clients elsewhere at once",
		apply:    deleting((*api.Client).DeleteGeoMapping, "the mapping of %s is gone"),
	})
}

func mappedNetworks(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.GeoMappings(ctx)
	return each(list.Mappings, func(m api.GeoMapping) string { return m.CIDR }), err
}
