package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nameReport is the state of a domain on all nodes, without a client location.
type nameReport struct {
	Domain api.Domain `json:"domain"` // on the first node that knows it
	// Nodes has an element for each node that knows the domain.
	Nodes   []nodeName    `json:"nodes"`
	Queried []fleet.Asked `json:"queried"` // all nodes
}

// nodeName is the state of a domain on one node.
type nodeName struct {
	Node     string              `json:"node"`
	Backends []api.Backend       `json:"backends"`
	Answers  []api.RoutingAnswer `json:"answers"`      // to A queries, one for each client region
	Answers6 []api.RoutingAnswer `json:"answers_aaaa"` // to AAAA queries

	domain api.Domain
}

// readName reads the state of a domain on a node.
func readName(ctx context.Context, c *api.Client, name string) (n nodeName, err error) {
	detail, err := c.Domain(ctx, name)
	if err != nil {
		return n, err
	}
	backends, err := c.Backends(ctx, api.BackendFilter{Service: detail.Domain.Name})
	if err != nil {
		return n, err
	}
	n = nodeName{Node: c.Node(), Backends: backends.Backends, domain: detail.Domain}
	for family, answers := range map[string]*[]api.RoutingAnswer{"A": &n.Answers, "AAAA": &n.Answers6} {
		list, err := c.RoutingAnswers(ctx, detail.Domain.Name, family)
		if err != nil {
			return n, err
		}
		*answers = list.Answers
	}
	return n, nil
}

// explainAnswers explains the answers of a domain to all clients on all nodes. It returns exit code 1 if a node has no
// answer for a client region.
func (a *app) explainAnswers(cmd *cobra.Command, name string) error {
	ctx := cmd.Context()
	g, err := fleet.GatherKnown(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (nodeName, error) {
		return readName(ctx, c, name)
	})
	if err != nil {
		return err
	}
	report := nameReport{Queried: g.Nodes, Domain: g.Answers[0].Value.domain}
	failed := false
	for _, r := range g.Answers {
		report.Nodes = append(report.Nodes, r.Value)
		failed = failed || slices.ContainsFunc(r.Value.Answers, func(x api.RoutingAnswer) bool {
			return x.Decision == api.RoutingNoBackend
		})
	}
	if err := a.Print(report, func() string { return a.nameText(&report) }); err != nil {
		return err
	}
	if err := g.Missing(); err != nil {
		return err
	}
	if failed {
		return &fleet.Error{Code: fleet.Degraded}
	}
	return nil
}

// nameText returns a report as text: the facts of the domain, its backends, its answers, and the command for one
// client.
func (a *app) nameText(r *nameReport) string {
	d := &r.Domain
	facts := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: d.Name}}}
	regions := "all"
	if len(d.Regions) > 0 {
		regions = strings.Join(d.Regions, ", ")
	}
	facts.Add(render.C("policy"), render.C(cmp.Or(d.RoutingPolicy, d.RoutingAlgorithm)))
	facts.Add(render.C("regions"), render.C(regions))
	facts.Add(render.C("ttl"), render.C(strconv.Itoa(d.TTL)+" s"))
	facts.Add(render.C("answers"), answersCell(d))
	backends := &render.Table{Columns: []render.Column{{Name: "BACKEND"}, {Name: "REGION"}, {Name: "SERVES"},
		{Name: "WEIGHT", Right: true}, {Name: "SHARE", Right: true}, {Name: "REASON"}},
		Empty: "No node has a backend of " + d.Name + "."}
	answers := &render.Table{Columns: []render.Column{{Name: "CLIENTS IN"}, {Name: "TYPE"}, {Name: "DECISION"},
		{Name: "ANSWERS"}}}
	several := len(r.Nodes) > 1
	var backendRows, answerRows nodeRows
	for i := range r.Nodes {
		n := &r.Nodes[i]
		part := nameShares(n.Backends)
		for _, b := range n.Backends {
			backendRows.add(n.Node, render.C(endpoint(b.Address, b.Port)), orNone(b.Region), goodCell(b.MayServe),
				weightCell(b), wholePercent(part[b.ID]), render.C(reason(b)))
		}
		for _, family := range families {
			list := n.Answers
			if family == families[1] {
				list = n.Answers6
			}
			for _, x := range list {
				if family != "A" && len(x.Addresses) == 0 {
					continue // the domain has no address of this family, or the A answer has the same reason
				}
				answerRows.add(n.Node, render.C(clientsOf(x)), render.C(family), decisionCell(x.Decision),
					orNone(shares(x.Addresses)))
			}
		}
	}
	backendRows.fill(backends, len(r.Nodes), several)
	answerRows.fill(answers, len(r.Nodes), several)
	return a.Text(facts) + "\n" + a.Text(backends) + a.section(answers) +
		"\nFor the answer to one client: gslbctl why " + render.Printable(d.Name) + " --client ADDRESS\n"
}

// answersCell returns the kind of answers of a domain, with its numbers of backends.
func answersCell(d *api.Domain) render.Cell {
	text := fmt.Sprintf("%s: %d of %s may serve", d.AnswerStatus, d.ServingBackends,
		render.Count(d.BackendCount, "backend", "backends"))
	if d.RequiredBackends > 1 {
		text += fmt.Sprintf(", %d are required (min_healthy)", d.RequiredBackends)
	}
	tone := render.Bad
	switch d.AnswerStatus {
	case api.AnswersNormal:
		tone = render.Good
	case api.AnswersFallback, api.AnswersOff:
		tone = render.Warn
	}
	return render.Cell{Text: text, Tone: tone}
}

// nodeRows collects the rows of several nodes, equal rows once.
type nodeRows struct {
	order []string
	cells map[string][]render.Cell
	nodes map[string][]string // by row
}

func (r *nodeRows) add(node string, cells ...render.Cell) {
	if r.cells == nil {
		r.cells, r.nodes = map[string][]render.Cell{}, map[string][]string{}
	}
	key := strings.Join(each(cells, func(c render.Cell) string { return c.Text }), "\x00")
	if r.cells[key] == nil {
		r.order = append(r.order, key)
		r.cells[key] = cells
	}
	r.nodes[key] = append(r.nodes[key], node)
}

// fill adds the rows to a table, sorted by their first columns. For several nodes, the table gets the column NODE,
// which is "all" for a row of all nodes.
func (r *nodeRows) fill(t *render.Table, nodes int, several bool) {
	slices.SortStableFunc(r.order, func(x, y string) int {
		return cmp.Compare(r.cells[x][0].Text, r.cells[y][0].Text)
	})
	if several {
		t.Columns = append([]render.Column{{Name: "NODE"}}, t.Columns...)
	}
	for _, key := range r.order {
		row := r.cells[key]
		if several {
			where := strings.Join(r.nodes[key], ", ")
			if len(r.nodes[key]) == nodes {
				where = "all"
			}
			row = append([]render.Cell{render.C(where)}, row...)
		}
		t.Add(row...)
	}
}
