package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeServerHealth is the health record of a server as one node sees it.
type nodeServerHealth struct {
	api.ServerHealth
	Node string `json:"node"`
}

// serverHealthList is the output of health servers: the records of all nodes, by server.
type serverHealthList struct {
	Servers []nodeServerHealth `json:"servers"`
	Total   int                `json:"total"` // servers, each once
	Nodes   []askedNode        `json:"nodes"`
}

// nodeRegionHealth is the summary of a region as one node sees it.
type nodeRegionHealth struct {
	api.RegionHealth
	Node string `json:"node"`
}

// regionHealthList is the output of health regions: the summaries of all nodes, by region.
type regionHealthList struct {
	Regions []nodeRegionHealth `json:"regions"`
	Total   int                `json:"total"` // regions, each once
	Nodes   []askedNode        `json:"nodes"`
}

func (a *app) healthServersCommand() *cobra.Command {
	return a.byNode(a.listing(&cobra.Command{
		Use:   "servers",
		Short: "Show the health record of every server, and which nodes see it otherwise",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := gather(cmd.Context(), a, just((*api.Client).ServerHealth))
			if err != nil {
				return err
			}
			list := serverHealthList{Servers: []nodeServerHealth{}, Nodes: g.nodes}
			list.Total = inOrder(g, func(l *api.ServerHealthList) []api.ServerHealth { return l.Servers },
				func(s *api.ServerHealth) string { return s.ID }, func(node string, s api.ServerHealth) {
					list.Servers = append(list.Servers, nodeServerHealth{s, node})
				})
			return g.done(a.list(list, a.serverHealthTable(list, len(g.replies))))
		},
	}))
}

// inOrder calls each for every element of every node's list, elements of the same name one after the other. Names come
// in the order in which nodes first list them. It returns the number of names.
func inOrder[L, E any](g gathered[L], elements func(*L) []E, name func(*E) string, each func(node string, e E)) int {
	type said struct {
		node string
		e    E
	}
	var order []string
	all := map[string][]said{}
	for i := range g.replies {
		for _, e := range elements(&g.replies[i].answer) {
			key := name(&e)
			if all[key] == nil {
				order = append(order, key)
			}
			all[key] = append(all[key], said{g.replies[i].node, e})
		}
	}
	for _, key := range order {
		for _, s := range all[key] {
			each(s.node, s.e)
		}
	}
	return len(order)
}

// groups calls row for each row of a table: for each run of elements of one name, once for each different value of
// says. first is the first element with that value, and nodes are the indexes of all of them.
func groups[E any](list []E, name, says func(*E) string, row func(first *E, nodes []int)) {
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && name(&list[to]) == name(&list[from]) {
			to++
		}
		done := map[string]bool{}
		for i := from; i < to; i++ {
			if done[says(&list[i])] {
				continue
			}
			done[says(&list[i])] = true
			var alike []int
			for k := i; k < to; k++ {
				if says(&list[k]) == says(&list[i]) {
					alike = append(alike, k)
				}
			}
			row(&list[i], alike)
		}
		from = to
	}
}

// seenBy returns a cell with the names of the nodes that agree on a row, or with their number if these are all of them.
func seenBy(nodes []string, of int) render.Cell {
	if len(nodes) == of {
		return render.C("all " + strconv.Itoa(of))
	}
	return render.Cell{Text: strings.Join(nodes, ", "), Tone: render.Warn}
}

// serverHealthTable has a row for each server, or for each group of the nodes that see it differently.
func (a *app) serverHealthTable(list serverHealthList, answered int) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 3}, {Name: "STATUS"},
			{Name: "CHECKED", Spare: 2}, {Name: "LAST HEALTHY", Spare: 5},
			{Name: "FAILURES", Right: true, Spare: 4}, {Name: "SUCCESSES", Right: true, Spare: 6}, {Name: "ERROR", Spare: 1}},
		Empty: "No servers are registered.",
	}
	several := len(list.Nodes) > 1
	if several {
		t.Columns = slices.Insert(t.Columns, 4, render.Column{Name: "SEEN BY"})
	}
	groups(list.Servers, func(s *nodeServerHealth) string { return s.ID },
		func(s *nodeServerHealth) string { return string(s.Status) }, func(s *nodeServerHealth, alike []int) {
			problem := render.None
			if s.LastError != nil {
				problem = *s.LastError
			}
			row := []render.Cell{render.C(s.Service), render.C(endpoint(s.Address, s.Port)), orNone(s.Region),
				statusCell(s.Status), a.ago(s.LastCheck), a.ago(s.LastHealthy), number(s.ConsecutiveFailures),
				number(s.ConsecutiveSuccesses), render.C(problem)}
			if several {
				nodes := each(alike, func(i int) string { return list.Servers[i].Node })
				row = slices.Insert(row, 4, seenBy(nodes, answered))
			}
			if alike[0] == 0 || list.Servers[alike[0]-1].ID != s.ID {
				t.AddNamed(s.ID, row...)
				return
			}
			t.Add(row...)
		})
	return t
}

func (a *app) healthRegionsCommand() *cobra.Command {
	return a.byNode(a.listing(&cobra.Command{
		Use:   "regions",
		Short: "Sum up the health of each region, and which nodes see it otherwise",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := gather(cmd.Context(), a, just((*api.Client).RegionHealth))
			if err != nil {
				return err
			}
			list := regionHealthList{Regions: []nodeRegionHealth{}, Nodes: g.nodes}
			list.Total = inOrder(g, func(l *api.RegionHealthList) []api.RegionHealth { return l.Regions },
				func(r *api.RegionHealth) string { return r.Name }, func(node string, r api.RegionHealth) {
					list.Regions = append(list.Regions, nodeRegionHealth{r, node})
				})
			return g.done(a.list(list, regionHealthTable(list, len(g.replies))))
		},
	}))
}

// regionHealthTable has a row for each region, or for each group of the nodes that see it differently.
func regionHealthTable(list regionHealthList, answered int) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "REGION"}, {Name: "HEALTHY", Right: true}, {Name: "PERCENT", Right: true}},
		Empty:   "No region has a server.",
	}
	several := len(list.Nodes) > 1
	if several {
		t.Columns = append(t.Columns, render.Column{Name: "SEEN BY"})
	}
	groups(list.Regions, func(r *nodeRegionHealth) string { return r.Name },
		func(r *nodeRegionHealth) string {
			return strconv.Itoa(r.HealthyCount) + "/" + strconv.Itoa(r.TotalServers)
		},
		func(r *nodeRegionHealth, alike []int) {
			row := []render.Cell{orNone(r.Name), healthyOf(r.HealthyCount, r.TotalServers),
				render.C(strconv.FormatFloat(r.HealthPercent, 'f', 0, 64) + "%")}
			if several {
				row = append(row, seenBy(each(alike, func(i int) string { return list.Regions[i].Node }), answered))
			}
			if alike[0] == 0 || list.Regions[alike[0]-1].Name != r.Name {
				t.AddNamed(r.Name, row...)
				return
			}
			t.Add(row...)
		})
	return t
}
