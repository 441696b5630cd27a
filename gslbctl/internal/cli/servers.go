package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) serversCommand() *cobra.Command {
	return cmdline.Group("servers", "List, add, change and remove servers", a.serversListCommand(),
		cmdline.Changing(a.serversAddCommand()),
		cmdline.Changing(a.serversSetCommand()),
		a.serversRemoveCommand(), a.serversResetCommand(),
		cmdline.Changing(a.serversCheckCommand()), cmdline.Changing(a.serversDrainCommand()),
		cmdline.Changing(a.serversUndrainCommand()))
}

func (a *app) serversListCommand() *cobra.Command {
	var tag string
	ask := func(c *api.Client, ctx context.Context) (api.ServerList, error) {
		list, err := c.Servers(ctx)
		if err != nil || tag == "" {
			return list, err
		}
		without, err := untagged(ctx, c, tag)
		list.Servers = slices.DeleteFunc(list.Servers, func(s api.Server) bool { return without(s.Service) })
		list.Targets = slices.DeleteFunc(list.Targets, func(s api.ServerTarget) bool { return without(s.Service) })
		list.Total = len(list.Servers)
		return list, err
	}
	cmd := cmdline.ListCommand(a.App, "list", "List servers", ask, a.serverTable)
	a.tagFlag(cmd, &tag)
	return cmd
}

func (a *app) serverTable(list api.ServerList) *render.Table {
	amiss := slices.ContainsFunc(list.Targets, func(t api.ServerTarget) bool { return t.Problem != "" })
	t := &render.Table{
		Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 2},
			{Name: "SOURCE", Spare: 5}, {Name: "WEIGHT", Right: true, Spare: 3}, {Name: "STATUS"},
			{Name: "DRAINING", Spare: 1}, {Name: "CHANGED", Spare: 4}, {Name: "PROBLEM", Spare: 6, Wide: !amiss},
			{Name: "CREATED", Wide: true}, {Name: "ID", Wide: true}},
		Empty: "No servers are registered.",
	}
	for _, s := range list.Servers {
		t.AddNamed(s.ID, render.C(s.Service), render.C(endpoint(s.Address, s.Port)), orNone(s.Region),
			sourceCell(string(s.Source), s.Overlay), number(s.Weight),
			statusCell(s.EffectiveStatus), render.C(render.YesNo(s.Draining)), a.Ago(&s.UpdatedAt), orNone(""),
			a.Ago(&s.CreatedAt), render.C(s.ID))
	}
	for _, s := range list.Targets {
		t.AddNamed(s.ID, render.C(s.Service), render.C(endpoint(s.Target, int(s.Port))), orNone(s.Region),
			render.C(string(api.SourceAPI)), number(s.Weight), addressesCell(s), render.C("-"), a.Ago(&s.UpdatedAt),
			orNone(s.Problem), a.Ago(&s.CreatedAt), render.C(s.ID))
	}
	return t
}

// addressesCell returns a cell with the number of addresses of a host name, for the status column. It is a warning if
// the target has a problem.
func addressesCell(s api.ServerTarget) (c render.Cell) {
	switch len(s.Addresses) {
	case 0:
		c.Text = "no address yet"
	case 1:
		c.Text = "1 address"
	default:
		c.Text = fmt.Sprintf("%d addresses", len(s.Addresses))
	}
	if s.Problem != "" {
		c.Tone = render.Warn
	}
	return c
}
