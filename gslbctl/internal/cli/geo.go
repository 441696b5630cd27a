package cli

import (
	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) geoCommand() *cobra.Command {
	return group("geo", "Show and change where clients are", a.geoMappingsCommand(), a.geoTestCommand(), a.geoSetCommand(),
		a.geoRemoveCommand())
}

func (a *app) geoMappingsCommand() *cobra.Command {
	return lists(a, "mappings", "List the networks whose region is given, whatever the database says",
		(*api.Client).GeoMappings, func(list api.GeoMappingList) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "NETWORK"}, {Name: "REGION"}, {Name: "SOURCE"},
				{Name: "COMMENT"}}, Empty: "No custom mappings."}
			for _, m := range list.Mappings {
				t.AddNamed(m.CIDR, render.C(m.CIDR), render.C(m.Region), render.C(string(m.Source)), orNone(m.Comment))
			}
			return t
		})
}

func (a *app) geoTestCommand() *cobra.Command {
	return shows(a, "test <ip>", "Show which region a client is in, and why", nil,
		(*api.Client).GeoTest, func(test api.GeoTest) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "CLIENT"}, {Name: "REGION"}, {Name: "BY"}, {Name: "NETWORK"},
				{Name: "COUNTRY"}, {Name: "CONTINENT"}, {Name: "SCOPE", Right: true}, {Name: "COMMENT"}}}
			t.Add(render.C(test.IP), orNone(test.Region), render.C(test.MatchType), orNone(test.MatchedCIDR),
				orNone(test.Country), orNone(test.Continent),
				number(test.ScopePrefix), orNone(test.Comment))
			return t
		})
}
