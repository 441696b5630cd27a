package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// names returns a table with a row for each name, the names without healthy backends first. It joins the states and
// answers of the nodes.
func (p *overview) names() *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: "HEALTHY"}, {Name: "POLICY"}, {Name: "ANSWER"},
		{Name: "TTL", Right: true}}, Empty: "No domain is configured."}
	byName := map[string][]api.Domain{}
	worst := map[string]api.Domain{} // the worst state of each name
	for _, n := range p.Report.Nodes {
		for _, d := range n.Domains {
			if len(p.selected) > 0 && !slices.ContainsFunc(p.selected, func(s string) bool { return sameName(d.Name, s) }) {
				continue
			}
			if known, there := worst[d.Name]; !there || nameRank(d) < nameRank(known) {
				worst[d.Name] = d
			}
			byName[d.Name] = append(byName[d.Name], d)
		}
	}
	order := slices.SortedFunc(maps.Values(worst), func(x, y api.Domain) int {
		return cmp.Or(cmp.Compare(nameRank(x), nameRank(y)), strings.Compare(x.Name, y.Name))
	})
	for _, d := range order {
		var healthy []render.Cell
		for _, known := range byName[d.Name] {
			healthy = append(healthy, nameCell(known))
		}
		answer, ttl := p.answer(d.Name)
		t.AddNamed(d.Name, render.C(d.Name), differing(healthy), render.C(d.RoutingPolicy), answer, ttl)
	}
	return t
}

// nameRank returns the position of a name in the list by its state: without healthy backends, degraded, healthy,
// disabled.
func nameRank(d api.Domain) int {
	switch {
	case !d.Enabled:
		return 3
	case d.HealthyBackends == 0:
		return 0
	case d.HealthyBackends < d.BackendCount:
		return 1
	}
	return 2
}

func nameCell(d api.Domain) render.Cell {
	if !d.Enabled {
		return render.Cell{Text: "disabled", Tone: render.Dim}
	}
	c := healthyOf(d.HealthyBackends, d.BackendCount)
	if d.BackendCount == 0 {
		c.Tone = render.Bad
	}
	return c
}

// answer returns cells with the answers of the nodes for a name, and their TTL. With answers of both families, each
// begins with its type.
func (p *overview) answer(name string) (answer, ttl render.Cell) {
	answer, ttl = render.C(render.None), render.C(render.None)
	var found []askedDomain
	for _, asked := range p.Answers {
		if asked.Name == name {
			found = append(found, asked)
		}
	}
	var texts []string
	for i, asked := range found {
		var said, times []render.Cell
		for _, r := range asked.Replies {
			said, times = append(said, r.cell()), append(times, r.ttl())
		}
		c := differing(said)
		if i == 0 {
			answer, ttl = c, differing(times)
		}
		if c.Tone != render.Plain {
			answer.Tone = c.Tone
		}
		texts = append(texts, asked.Type+" "+c.Text)
	}
	if len(texts) > 1 {
		answer.Text = strings.Join(texts, ", ")
	}
	return answer, ttl
}

// maxTopEvents is the number of events of each node in top.
const maxTopEvents = 100

// addEvents reads the latest events of the nodes.
func (p *overview) addEvents(ctx context.Context, clients []*api.Client) {
	query := url.Values{"limit": {fmt.Sprint(maxTopEvents)}}
	for _, r := range fleet.AskClients(ctx, clients, fleet.CallWith((*api.Client).Events, query)) {
		if r.Err != nil {
			_, p.missing = fleet.Explain(r.Err)
			continue
		}
		for _, e := range r.Value.Events {
			p.Events = append(p.Events, nodeEvent{e, r.Node})
		}
	}
	slices.SortStableFunc(p.Events, func(x, y nodeEvent) int { return y.Time.Compare(x.Time) })
}

// events returns a table with the latest events, equal events of several nodes once.
func (p *overview) events() *render.Table {
	zone := p.app.Now().Format("MST")
	t := &render.Table{Columns: []render.Column{{Name: "TIME (" + zone + ")"}, {Name: "NODE"}, {Name: "SEVERITY"},
		{Name: "KIND"}, {Name: "EVENT"}}, Empty: cmp.Or(p.missing, "There are no events.")}
	oldestFirst := slices.Clone(p.Events)
	slices.Reverse(oldestFirst)
	list, nodes := foldEvents(oldestFirst)
	for i, e := range slices.Backward(list) {
		where := strings.Join(nodes[i], ", ")
		if len(nodes[i]) == len(p.Nodes) && len(p.Nodes) > 1 {
			where = fmt.Sprintf("all %d", len(p.Nodes))
		}
		t.AddNamed(fmt.Sprintf("%s %d", e.Node, e.Sequence), render.C(e.Time.In(p.app.Now().Location()).
			Format("2006-01-02 15:04:05")), render.C(where), severityCell(e.Severity), render.C(string(e.Kind)),
			render.C(e.Sentence))
	}
	return t
}

func severityCell(s api.EventSeverity) render.Cell {
	tone := render.Plain
	switch s {
	case api.EventWarning:
		tone = render.Warn
	case api.EventError, api.EventCritical:
		tone = render.Bad
	}
	return render.Cell{Text: string(s), Tone: tone}
}
