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

// The tabs of top.
const (
	namesTab = iota
	backendsTab
	eventsTab
	agentsTab
)

func topTabs() []string { return []string{"names", "backends", "events", "agents"} }

// topCommand returns the command top, whose old name watch also works.
func (a *app) topCommand(name string) *cobra.Command {
	var f cmdline.WatchFlags
	var domains []string
	cmd := &cobra.Command{
		Use:   name,
		Short: "Watch names and backends live, and drain or override backends",
		Long: "top shows all nodes, the problems that need attention, and the names, the backends, the events or the\n" +
			"agents. Enter on a name shows its backends. On a backend, d drains it or ends its drain, and o overrides\n" +
			"its health or clears the override. u reverts your last change. Each change asks for a confirmation and\n" +
			"requires that no name loses too many backends. ? lists all keys.\n\n" +
			"Without a terminal, top prints one refresh after another. The answers are from the DNS servers of the\n" +
			fmt.Sprintf("nodes, over TCP, for up to %d domains; --domain selects domains.", maxAsked),
		RunE: func(cmd *cobra.Command, _ []string) error {
			nodes, err := a.Nodes()
			if err != nil {
				return err
			}
			cluster := a.ClusterName()
			return a.Watch(cmd.Context(), screen.Live{
				Title: "gslb  " + render.Printable(cluster), Tabs: topTabs(), Actions: a.topActions(cluster), Open: openName,
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

// openName returns the backends tab with the filter for the backends of a name.
func openName(tab int, id string) (to int, filter string, ok bool) {
	return backendsTab, id, tab == namesTab
}

// overview contains the data of one refresh of top.
type overview struct {
	app     *app
	tables  [agentsTab + 1]*render.Table // of each tab; nil before its first use
	Report  statusReport                 `json:"status"`
	Nodes   []nodeOverview               `json:"nodes"`
	Answers []askedDomain                `json:"answers"`
	Events  []nodeEvent                  `json:"events"` // latest first

	selected []string // the domains of --domain
	missing  string   // why events are missing, or ""
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
	p := &overview{app: a, Report: report, Answers: []askedDomain{}, Events: []nodeEvent{}, selected: domains}
	for _, r := range fleet.AskClients(ctx, clients, readAround) {
		r.Value.Node = r.Node
		p.Nodes = append(p.Nodes, r.Value) // the status contains the failure
	}
	if len(domains) == 0 {
		domains = p.domains()
	}
	p.Answers = append(p.Answers, askAll(ctx, nodes, domains, a.Timeout)...)
	p.addEvents(ctx, clients)
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
	first, last := tab, tab
	if tab == cmdline.AllTabs {
		first, last = namesTab, agentsTab
	}
	var texts []string
	for tab := first; tab <= last; tab++ {
		texts = append(texts, p.app.Text(p.table(tab)))
	}
	return top, strings.Split(strings.TrimSuffix(strings.Join(texts, "\n"), "\n"), "\n")
}

// IDs returns the ids of the objects of a tab.
func (p *overview) IDs(tab int) []string { return p.table(tab).IDs() }

// table returns the table of a tab.
func (p *overview) table(tab int) *render.Table {
	if p.tables[tab] == nil {
		p.tables[tab] = []func() *render.Table{p.names, p.backends, p.events, p.agents}[tab]()
	}
	return p.tables[tab]
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
