package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) regionsCommand() *cobra.Command {
	return cmdline.Group("regions", "Show and change regions", a.regionsListCommand(), a.regionsShowCommand(),
		cmdline.Changing(a.regionsAddCommand()),
		cmdline.Changing(a.regionsSetCommand()), a.regionsRemoveCommand(),
		a.resetCommand("region", "reset <id>", allRegionNames, (*api.Client).ResetRegion))
}

func (a *app) regionsListCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "list", "List all regions",
		(*api.Client).Regions, func(list api.RegionList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "ID"}, {Name: "HEALTHY", Right: true}, {Name: "ENABLED", Spare: 1},
					{Name: "CONTINENT", Spare: 2}, {Name: "COUNTRIES", Spare: 4}, {Name: "SOURCE", Spare: 3},
					{Name: "NAME", Wide: true}, {Name: "CODE", Wide: true}, {Name: "POSITION", Wide: true},
					{Name: "PRIORITY", Right: true, Wide: true}, {Name: "DESCRIPTION", Wide: true}},
				Empty: "No region is configured.",
			}
			for _, r := range list.Regions {
				t.AddNamed(r.ID, render.C(r.ID), healthyOf(r.HealthyServers, r.ServerCount),
					render.C(render.YesNo(r.Enabled)),
					orNone(r.Continent),
					orNone(strings.Join(r.Countries, ",")), sourceCell(r.Source, r.Overlay), render.C(r.Name),
					orNone(r.Code), orNone(position(r)),
					number(r.Priority), orNone(r.Description))
			}
			return t
		})
}

// position returns the coordinates of a region in degrees, "" without coordinates.
func position(r api.Region) string {
	if r.Latitude == nil || r.Longitude == nil {
		return ""
	}
	return strconv.FormatFloat(*r.Latitude, 'f', -1, 64) + " " + strconv.FormatFloat(*r.Longitude, 'f', -1, 64)
}

func (a *app) regionsShowCommand() *cobra.Command {
	return cmdline.ShowCommand(a.App, "show <id>", "Show one region", allRegionNames,
		(*api.Client).Region, func(r api.Region) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "REGION"}, {Name: r.ID}}}
			t.Add(render.C("healthy"), healthyOf(r.HealthyServers, r.ServerCount))
			for _, fact := range [][2]string{
				{"name", r.Name}, {"enabled", render.YesNo(r.Enabled)}, {"source", r.Source}, {"code", r.Code},
				{"continent", r.Continent},
				{"countries", strings.Join(r.Countries, ", ")},
				{"position", position(r)}, {"priority", strconv.Itoa(r.Priority)}, {"description", r.Description},
			} {
				t.Add(render.C(fact[0]), orNone(fact[1]))
			}
			return t
		})
}

func allRegionNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Regions(ctx)
	return each(list.Regions, func(r api.Region) string { return r.ID }), err
}

// regionFlags adds the flags for the settings of a region but for its name. Only given ones are in req.
func regionFlags(cmd *cobra.Command, req *api.RegionChange) {
	flags := cmd.Flags()
	cmdline.Optional(cmd, flags.StringVar, &req.Code, "code", "",
		"a short code: the id, where the name has other characters than one")
	cmdline.Optional(cmd, flags.StringVar, &req.Description, "description", "", "description")
	cmdline.Optional(cmd, flags.Float64Var, &req.Latitude, "latitude", 0, "where it is: degrees north, from -90 to 90")
	cmdline.Optional(cmd, flags.Float64Var, &req.Longitude, "longitude", 0,
		"where it is: degrees east, from -180 to 180")
	cmdline.Optional(cmd, flags.StringVar, &req.Continent, "continent", "",
		"continent of its clients: AF, AN, AS, EU, NA, OC or SA")
	cmdline.Optional(cmd, flags.StringSliceVar, &req.Countries, "countries", nil,
		"countries of its clients, such as DE,FR")
	cmdline.Optional(cmd, flags.BoolVar, &req.Enabled, "enabled", true, "whether clients are placed in it")
	cmdline.Optional(cmd, flags.IntVar, &req.Priority, "priority", 0, "of regions that were added, the lowest comes "+
		"first")
}

func (a *app) regionsAddCommand() *cobra.Command {
	var req api.RegionChange
	cmd := &cobra.Command{
		Use:   "add <name>",
		Short: "Add a region",
		Example: "  gslbctl regions add eu-north --continent EU --countries SE,NO,FI\n" +
			"  gslbctl regions add \"US East\" --code us-east --countries US",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name = &args[0]
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				made, err := c.CreateRegion(ctx, req)
				return "region " + made.ID + " is there", err
			})
		},
	}
	regionFlags(cmd, &req)
	return cmd
}

func (a *app) regionsSetCommand() *cobra.Command {
	var req api.RegionChange
	var force bool
	cmd := &cobra.Command{
		Use:               "set <id>",
		Short:             "Change a region",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(allRegionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if req == (api.RegionChange{}) {
				return errors.New("nothing to change: give at least one of the flags that gslbctl regions set " +
					"--help shows")
			}
			ctx := cmd.Context()
			if req.Enabled != nil && !*req.Enabled {
				var err error
				if ctx, err = a.CheckConsequences(ctx, force, api.ConsequenceRequest{Regions: args}); err != nil {
					return err
				}
			}
			return a.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				now, err := c.ChangeRegion(ctx, args[0], req)
				return changedObject("region "+args[0], now.Overlay), err
			})
		},
	}
	regionFlags(cmd, &req)
	cmdline.Optional(cmd, cmd.Flags().StringVar, &req.Name, "name", "", "its name, for people")
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

func (a *app) regionsRemoveCommand() *cobra.Command {
	return a.removal(removal{
		use: "remove <id>", short: "Delete an unused region of the API",
		shared:   true,
		names:    allRegionNames,
		question: "after removing the region %s no client is placed in it",
		apply:    deleting((*api.Client).DeleteRegion, "region %s is removed"),
	})
}
