package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeServerHealth is the health record of a server on one node.
type nodeServerHealth struct {
	api.ServerHealth
	Node string `json:"node"`
}

// serverHealthList is the output of health servers: the records of all nodes, by server.
type serverHealthList struct {
	Servers []nodeServerHealth `json:"servers"`
	Total   int                `json:"total"` // servers, each once
	Nodes   []fleet.Asked      `json:"nodes"`
}

// nodeRegionHealth is the health summary of a region on one node.
type nodeRegionHealth struct {
	api.RegionHealth
	Node string `json:"node"`
}

// regionHealthList is the output of health regions: the summaries of all nodes, by region.
type regionHealthList struct {
	Regions []nodeRegionHealth `json:"regions"`
	Total   int                `json:"total"` // regions, each once
	Nodes   []fleet.Asked      `json:"nodes"`
}

func (a *app) healthServersCommand() *cobra.Command {
	var tag string
	ask := func(ctx context.Context, c *api.Client) (api.ServerHealthList, error) {
		list, err := c.ServerHealth(ctx)
		if err != nil || tag == "" {
			return list, err
		}
		without, err := untagged(ctx, c, tag)
		list.Servers = slices.DeleteFunc(list.Servers, func(s api.ServerHealth) bool { return without(s.Service) })
		return list, err
	}
	cmd := a.NodeFlag(a.Listing(&cobra.Command{
		Use:   "servers",
		Short: "Show the health of servers on all nodes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := fleet.Gather(cmd.Context(), a.Fleet, ask)
			if err != nil {
				return err
			}
			var all []nodeServerHealth
			for _, r := range g.Answers {
				for _, s := range r.Value.Servers {
					all = append(all, nodeServerHealth{s, r.Node})
				}
			}
			servers := grouped(all, func(s nodeServerHealth) string { return s.ID })
			list := serverHealthList{append([]nodeServerHealth{}, slices.Concat(servers...)...), len(servers), g.Nodes}
			return g.Done(a.List(list, a.serverHealthTable(servers, g.Several(), len(g.Answers))))
		},
	}))
	a.tagFlag(cmd, &tag)
	return cmd
}

// grouped splits a list into groups with the same key, in the order of the first appearance of each key.
func grouped[E any](list []E, key func(E) string) (groups [][]E) {
	places := map[string]int{}
	for _, e := range list {
		i, known := places[key(e)]
		if !known {
			i = len(groups)
			places[key(e)], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

// seenBy returns a cell with the names of the nodes that have the same row, or "all" with their number.
func seenBy(nodes []string, of int) render.Cell {
	if len(nodes) == of {
		return render.C("all " + strconv.Itoa(of))
	}
	return render.Cell{Text: strings.Join(nodes, ", "), Tone: render.Warn}
}

// serverHealthTable returns a table with a row for each server and each distinct state on the nodes. servers has the
// states of each server by node. answered is the number of nodes that answered.
func (a *app) serverHealthTable(servers [][]nodeServerHealth, several bool, answered int) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 3}, {Name: "STATUS"},
			{Name: "CHECKED", Spare: 2}, {Name: "LAST HEALTHY", Spare: 5},
			{Name: "FAILURES", Right: true, Spare: 4}, {Name: "SUCCESSES", Right: true, Spare: 6}, {Name: "ERROR",
				Spare: 1}},
		Empty: "No servers are registered.",
	}
	if several {
		t.Columns = slices.Insert(t.Columns, 4, render.Column{Name: "SEEN BY"})
	}
	for _, records := range servers {
		t.Name(records[0].ID)
		for _, alike := range grouped(records, func(s nodeServerHealth) string { return string(s.Status) }) {
			s := &alike[0]
			row := []render.Cell{render.C(s.Service), render.C(endpoint(s.Address, s.Port)), orNone(s.Region),
				statusCell(s.Status), a.Ago(s.LastCheck), a.Ago(s.LastHealthy), number(s.ConsecutiveFailures),
				number(s.ConsecutiveSuccesses), orNone(cmdline.ValueOf(s.LastError))}
			if several {
				nodes := each(alike, func(s nodeServerHealth) string { return s.Node })
				row = slices.Insert(row, 4, seenBy(nodes, answered))
			}
			t.Add(row...)
		}
	}
	return t
}

func (a *app) healthRegionsCommand() *cobra.Command {
	return a.NodeFlag(a.Listing(&cobra.Command{
		Use:   "regions",
		Short: "Show the health of regions on all nodes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.Call((*api.Client).RegionHealth))
			if err != nil {
				return err
			}
			var all []nodeRegionHealth
			for _, r := range g.Answers {
				for _, region := range r.Value.Regions {
					all = append(all, nodeRegionHealth{region, r.Node})
				}
			}
			regions := grouped(all, func(r nodeRegionHealth) string { return r.Name })
			list := regionHealthList{append([]nodeRegionHealth{}, slices.Concat(regions...)...), len(regions), g.Nodes}
			return g.Done(a.List(list, regionHealthTable(regions, g.Several(), len(g.Answers))))
		},
	}))
}

// regionHealthTable returns a table with a row for each region and each distinct state on the nodes. Its arguments are
// as in serverHealthTable.
func regionHealthTable(regions [][]nodeRegionHealth, several bool, answered int) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "REGION"}, {Name: "HEALTHY", Right: true}, {Name: "PERCENT", Right: true}},
		Empty:   "No region has a server.",
	}
	if several {
		t.Columns = append(t.Columns, render.Column{Name: "SEEN BY"})
	}
	for _, summaries := range regions {
		t.Name(summaries[0].Name)
		for _, alike := range grouped(summaries, func(r nodeRegionHealth) string {
			return healthyOf(r.HealthyCount, r.TotalServers).Text
		}) {
			r := &alike[0]
			row := []render.Cell{orNone(r.Name), healthyOf(r.HealthyCount, r.TotalServers),
				render.C(strconv.FormatFloat(r.HealthPercent, 'f', 0, 64) + "%")}
			if several {
				row = append(row, seenBy(each(alike, func(r nodeRegionHealth) string { return r.Node }), answered))
			}
			t.Add(row...)
		}
	}
	return t
}
