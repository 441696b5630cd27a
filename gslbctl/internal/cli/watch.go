package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
)

func (a *app) watchCommand() *cobra.Command {
	var f cmdline.WatchFlags
	var domains []string
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Watch nodes, backends, answers and agents live",
		Long: "watch shows all nodes, the problems that need attention, and the backends, the answers or the " +
			"agents.\n" +
			"1, 2, 3 and Tab select them, q ends the view. Without a terminal, watch prints one refresh after " +
			"another.\n" +
			fmt.Sprintf("The answers are from the DNS servers of the nodes, over TCP, for up to %d domains; "+
				"--domain selects domains.",
				maxAsked),
		RunE: func(cmd *cobra.Command, _ []string) error {
			nodes, err := a.Nodes()
			if err != nil {
				return err
			}
			return a.Watch(cmd.Context(), screen.Live{
				Title: "gslb", Tabs: []string{"backends", "answers", "agents"},
				Gather: func(ctx context.Context) (screen.Picture, error) {
					p, err := a.gatherOverview(ctx, nodes, domains)
					if err != nil || a.ForPeople() {
						return p, err
					}
					return a.Capture(func() error { return a.Print(p, nil) })
				},
			}, f)
		},
	}
	cmd.Flags().StringArrayVar(&domains, "domain", nil, "only this `name`; repeat the flag for more names")
	_ = cmd.RegisterFlagCompletionFunc("domain", a.Complete(domainNames))
	f.Add(cmd)
	return cmd
}

// overview holds everything that one look of watch shows.
type overview struct {
	app     *app
	Report  statusReport   `json:"status"`
	Nodes   []nodeOverview `json:"nodes"`
	Answers []askedDomain  `json:"answers"`
}

// nodeOverview holds one node's backends and agents.
type nodeOverview struct {
	Node     string        `json:"node"`
	Backends []api.Backend `json:"backends"`
	Agents   []api.Agent   `json:"agents"`
}

func (a *app) gatherOverview(ctx context.Context, nodes []fleet.Node, domains []string) (*overview, error) {
	clients := fleet.ClientsOf(nodes)
	report, err := a.gatherStatus(ctx, clients)
	if err != nil {
		return nil, err
	}
	p := &overview{app: a, Report: report, Answers: []askedDomain{}}
	for _, r := range fleet.AskClients(ctx, clients, readAround) {
		r.Value.Node = r.Node
		p.Nodes = append(p.Nodes, r.Value) // the status contains the failure
	}
	if len(domains) == 0 {
		domains = p.domains()
	}
	p.Answers = append(p.Answers, askAll(ctx, nodes, domains, a.Timeout)...)
	return p, nil
}

func readAround(ctx context.Context, c *api.Client) (nodeOverview, error) {
	var n nodeOverview
	backends, err := c.Backends(ctx, api.BackendFilter{})
	if err != nil {
		return n, err
	}
	n.Backends = backends.Backends
	agents, err := c.Agents(ctx)
	n.Agents = agents.Agents
	return n, err
}

// domains returns the names that any node serves, sorted.
func (p *overview) domains() []string {
	var names []string
	for _, n := range p.Report.Nodes {
		for _, d := range n.Domains {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxTop bounds the problems above the tabs.
const maxTop = 5

// Lines returns the nodes and their problems in top, and the table of a tab in body.
func (p *overview) Lines(tab int) (top, body []string) {
	if cluster := p.cluster(); cluster != "" {
		top = []string{"cluster " + render.Printable(cluster), ""}
	}
	problems := p.app.problemsText(p.Report, maxTop, "gslbctl status")
	top = append(top, strings.Split(p.app.Text(p.nodes())+"\n"+problems, "\n")...)
	tables := []*render.Table{p.backends(), p.answers(), p.agents()}
	if tab != cmdline.AllTabs {
		tables = tables[tab : tab+1]
	}
	texts := make([]string, len(tables))
	for i, t := range tables {
		texts[i] = p.app.Text(t)
	}
	return top, strings.Split(strings.TrimSuffix(strings.Join(texts, "\n"), "\n"), "\n")
}

// cluster returns the name of the cluster: several names if the nodes disagree, or "" if there is no name.
func (p *overview) cluster() string {
	var names []string
	for _, n := range p.Report.Nodes {
		if n.Stats != nil && n.Stats.ClusterName != "" && !slices.Contains(names, n.Stats.ClusterName) {
			names = append(names, n.Stats.ClusterName)
		}
	}
	return strings.Join(names, ", ")
}

// nodes has one line per node.
func (p *overview) nodes() *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NODE"}}}
	var facts []nodeFact
	for _, column := range [][2]string{{"status", "STATUS"}, {"ready", "READY"}, {"domains up", "DOMAINS"},
		{"backends healthy", "BACKENDS"}, {"stale", "STALE"},
		{"draining", "DRAINING"}, {"overrides", "OVERRIDES"}, {"active agents", "AGENTS"}, {"up", "UP"},
		{"version", "VERSION"}} {
		i := slices.IndexFunc(nodeFacts(), func(fact nodeFact) bool { return fact.name == column[0] })
		facts = append(facts, nodeFacts()[i])
		t.Columns = append(t.Columns, render.Column{Name: column[1]})
	}
	for _, n := range p.Report.Nodes {
		row := []render.Cell{render.C(n.Node)}
		for _, fact := range facts {
			row = append(row, fact.of(n))
		}
		t.Add(row...)
	}
	return t
}
