package cli

import (
	"context"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) geoCommand() *cobra.Command {
	return cmdline.Group("geo", "Map client networks to regions", a.geoMappingsCommand(), a.geoTestCommand(),
		cmdline.Changing(a.geoSetCommand()),
		a.geoRemoveCommand())
}

func (a *app) geoMappingsCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "mappings", "List the mappings of client networks to regions",
		(*api.Client).GeoMappings, func(list api.GeoMappingList) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "NETWORK"}, {Name: "REGION"}, {Name: "SOURCE"},
				{Name: "COMMENT"}}, Empty: "No custom mappings."}
			for _, m := range list.Mappings {
				t.AddNamed(m.CIDR.String(), render.C(m.CIDR.String()), render.C(m.Region), render.C(string(m.Source)),
					orNone(m.Comment))
			}
			return t
		})
}

func (a *app) geoTestCommand() *cobra.Command {
	return cmdline.ShowCommand(a.App, "test <ip>",
		"Show the region of a client address, and the rule or database that determines it", nil,
		(*api.Client).GeoTest, func(test api.GeoTest) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "CLIENT"}, {Name: "REGION"}, {Name: "BY"},
				{Name: "NETWORK"},
				{Name: "COUNTRY"}, {Name: "CONTINENT"}, {Name: "SCOPE", Right: true}, {Name: "COMMENT"}}}
			t.Add(render.C(test.IP), orNone(test.Region), render.C(test.MatchType), orNone(test.MatchedCIDR),
				orNone(test.Country), orNone(test.Continent),
				number(test.ScopePrefix), orNone(test.Comment))
			return t
		})
}

func (a *app) geoSetCommand() *cobra.Command {
	var flags *settingFlags
	cmd := &cobra.Command{
		Use:               "set <network> <region>",
		Short:             "Map a client network to a region",
		Example:           "  gslbctl geo set 203.0.113.0/24 eu --comment \"the office\"",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.CompleteArguments(mappedNetworks, allRegionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := flags.patch()
			if err != nil {
				return err
			}
			req := api.GeoMappingChange(settings)
			req["cidr"], req["region"] = args[0], args[1]
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				m, err := c.PutGeoMapping(ctx, req)
				return "clients of " + m.CIDR.String() + " are in " + m.Region, err
			})
		},
	}
	flags = addSettingFlags(cmd, api.GeoMappingChange(nil).Declared(), nil, "cidr", "region")
	return cmd
}

func (a *app) geoRemoveCommand() *cobra.Command {
	return a.removal(removal{
		use: "remove <network>", short: "Delete a mapping that was created with the API",
		shared:   true,
		names:    mappedNetworks,
		question: "removing the mapping of %s moves its clients to another region immediately",
		apply:    deleting((*api.Client).DeleteGeoMapping, "the mapping of %s is removed"),
	})
}

func mappedNetworks(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.GeoMappings(ctx)
	return each(list.Mappings, func(m api.GeoMapping) string { return m.CIDR.String() }), err
}
