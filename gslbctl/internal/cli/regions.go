package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func (a *app) regionsCommand() *cobra.Command {
	return cmdline.Group("regions", "Show and change regions", a.regionsListCommand(), a.regionsShowCommand(),
		cmdline.Changing(a.regionsAddCommand()),
		cmdline.Changing(a.regionsSetCommand()), a.regionsRemoveCommand(),
		a.resetCommand("region", "reset <id>", allRegionNames, (*api.Client).ResetRegion))
}

func (a *app) regionsListCommand() *cobra.Command {
	var tag string
	ask := func(c *api.Client, ctx context.Context) (api.RegionList, error) {
		list, err := c.Regions(ctx)
		if tag != "" {
			list.Regions = slices.DeleteFunc(list.Regions, func(r api.Region) bool { return !slices.Contains(r.Tags, tag) })
			list.Total = len(list.Regions)
		}
		return list, err
	}
	cmd := cmdline.ListCommand(a.App, "list", "List all regions", ask, func(list api.RegionList) *render.Table {
		t := &render.Table{
			Columns: []render.Column{{Name: "ID"}, {Name: "HEALTHY", Right: true}, {Name: "ENABLED", Spare: 1},
				{Name: "CONTINENT", Spare: 2}, {Name: "COUNTRIES", Spare: 4}, {Name: "SOURCE", Spare: 3},
				{Name: "NAME", Wide: true}, {Name: "CODE", Wide: true}, {Name: "POSITION", Wide: true},
				{Name: "PRIORITY", Right: true, Wide: true}, {Name: "TAGS", Wide: true},
				{Name: "DESCRIPTION", Wide: true}},
			Empty: "No region is configured.",
		}
		if tag != "" {
			t.Empty = "No region has the tag " + tag + "."
		}
		for _, r := range list.Regions {
			t.AddNamed(r.ID, render.C(r.ID), healthyOf(r.HealthyServers, r.ServerCount),
				render.C(render.YesNo(r.Enabled)), orNone(r.Continent),
				orNone(strings.Join(r.Countries, ",")), sourceCell(r.Source, r.Overlay), render.C(r.Name),
				orNone(r.Code), orNone(position(r)), number(r.Priority), orNone(strings.Join(r.Tags, ",")),
				orNone(r.Description))
		}
		return t
	})
	cmd.Flags().StringVar(&tag, "tag", "", "only regions that have this `tag`")
	_ = cmd.RegisterFlagCompletionFunc("tag", a.Complete(regionTagNames))
	return cmd
}

// position returns the coordinates of a region in degrees, "" without coordinates.
func position(r api.Region) string {
	if r.Latitude == nil || r.Longitude == nil {
		return ""
	}
	return strconv.FormatFloat(*r.Latitude, 'f', -1, 64) + " " + strconv.FormatFloat(*r.Longitude, 'f', -1, 64)
}

func (a *app) regionsShowCommand() *cobra.Command {
	return cmdline.ShowCommand(a.App, "show <id>", "Show a region", allRegionNames,
		(*api.Client).Region, func(r api.Region) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "REGION"}, {Name: r.ID}}}
			t.Add(render.C("healthy"), healthyOf(r.HealthyServers, r.ServerCount))
			for _, fact := range [][2]string{
				{"name", r.Name}, {"enabled", render.YesNo(r.Enabled)}, {"source", r.Source}, {"code", r.Code},
				{"continent", r.Continent},
				{"countries", strings.Join(r.Countries, ", ")}, {"tags", strings.Join(r.Tags, ", ")},
				{"position", position(r)}, {"priority", strconv.Itoa(r.Priority)}, {"description", r.Description},
				{"health check", checkSentence(r.HealthCheck)},
			} {
				t.Add(render.C(fact[0]), orNone(fact[1]))
			}
			return t
		})
}

// checkSentence describes a health check, such as "http /up"; "" without a check.
func checkSentence(h *model.HealthCheck) string {
	switch {
	case h == nil:
		return ""
	case h.Off():
		return "off"
	}
	return strings.TrimSpace(h.Type + " " + h.Path)
}

func allRegionNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Regions(ctx)
	return each(list.Regions, func(r api.Region) string { return r.ID }), err
}

// regionFlags adds the flags for the settings of a region. The name of a new region is an argument.
func (a *app) regionFlags(cmd *cobra.Command, skip ...string) *settingFlags {
	s := addSettingFlags(cmd, api.RegionChange(nil).Declared(), map[string]string{"continent": "continents"}, skip...)
	for _, flag := range []string{"continents", "continent"} {
		cmdline.Offer(cmd, flag, model.ContinentCodes())
	}
	cmdline.Offer(cmd, "routing-algorithm", []string{"weighted", "round-robin", "latency", "client-hash"})
	offerCheckTypes(cmd, "health-check-type")
	return s
}

// regionPatch returns the merge patch of the flags of a region. Version 0.9.0 knows the continents as a text.
func regionPatch(flags *settingFlags) (api.RegionChange, error) {
	patch, err := flags.patch()
	if list, is := patch["continent"].([]string); is {
		patch["continent"] = strings.Join(list, ",")
	}
	return patch, err
}

func (a *app) regionsAddCommand() *cobra.Command {
	var flags *settingFlags
	cmd := &cobra.Command{
		Use:   "add <name>",
		Short: "Add a region",
		Example: "  gslbctl regions add eu-north --continents EU --countries SE,NO,FI\n" +
			"  gslbctl regions add \"US East\" --code us-east --countries US",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := regionPatch(flags)
			if err != nil {
				return err
			}
			req["name"] = args[0]
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				made, err := c.CreateRegion(ctx, req)
				return "region " + made.ID + " is there", err
			})
		},
	}
	flags = a.regionFlags(cmd, "name")
	return cmd
}

func (a *app) regionsSetCommand() *cobra.Command {
	var flags *settingFlags
	var force bool
	cmd := &cobra.Command{
		Use:               "set <id>",
		Short:             "Change a region",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(allRegionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.given() {
				return flags.errNoSetting()
			}
			req, err := regionPatch(flags)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if enabled, is := req["enabled"].(bool); is && !enabled {
				if ctx, err = a.CheckConsequences(ctx, force, api.ConsequenceRequest{Regions: args}); err != nil {
					return err
				}
			}
			return a.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
				now, err := c.ChangeRegion(ctx, args[0], maps.Clone(req))
				return changedObject("region "+args[0], now.Overlay), err
			})
		},
	}
	flags = a.regionFlags(cmd)
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

func (a *app) regionsRemoveCommand() *cobra.Command {
	return a.removal(removal{
		use: "remove <id>", short: "Delete an unused region that was created with the API",
		shared:   true,
		names:    allRegionNames,
		question: "after removing the region %s no client is placed in it",
		apply:    deleting((*api.Client).DeleteRegion, "region %s is removed"),
	})
}
