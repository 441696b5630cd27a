package cli

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// differing returns one cell for the texts of several nodes: a single text if all texts are equal, or else all texts in
// the order of the nodes.
func differing(cells []render.Cell) render.Cell {
	var texts []string
	for _, c := range cells {
		texts = append(texts, c.Text)
	}
	if len(slices.Compact(slices.Clone(texts))) == 1 {
		return cells[0]
	}
	return render.Cell{Text: strings.Join(texts, " | "), Tone: render.Warn}
}

// backends merges the states of each backend on the nodes. If the states differ, the cell shows all of them.
func (p *overview) backends() *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 4}, {Name: "STATUS"},
			{Name: "SERVES", Spare: 1}, {Name: "WEIGHT", Right: true, Spare: 2}, {Name: "SHARE", Right: true, Spare: 2},
			{Name: "SEEN", Spare: 6}, {Name: "LATENCY", Right: true, Spare: 8}, {Name: "REASON", Spare: 3}},
		Empty: "No backend is known.",
	}
	said, order := map[string][]*api.Backend{}, []*api.Backend{}
	shares := make([]map[string]float64, len(p.Nodes))
	for i, n := range p.Nodes {
		shares[i] = nameShares(n.Backends)
		for k := range n.Backends {
			b := &n.Backends[k]
			if said[b.ID] == nil {
				order = append(order, b)
				said[b.ID] = make([]*api.Backend, len(p.Nodes))
			}
			said[b.ID][i] = b
		}
	}
	slices.SortFunc(order, asListed)
	for _, b := range order {
		t.AddNamed(b.ID, p.backendRow(said[b.ID], shares)...)
	}
	return t
}

// asListed compares backends in the order of a node's list: service, numeric address, port.
func asListed(x, y *api.Backend) int {
	first, _ := netip.ParseAddr(x.Address) // an invalid address is the zero Addr and sorts first
	second, _ := netip.ParseAddr(y.Address)
	return cmp.Or(cmp.Compare(x.Service, y.Service), first.Compare(second), cmp.Compare(x.Port, y.Port),
		cmp.Compare(x.ID, y.ID))
}

// backendRow returns the cells of a backend: said has the backend as each node sees it, shares the shares of each node.
func (p *overview) backendRow(said []*api.Backend, shares []map[string]float64) []render.Cell {
	var first *api.Backend
	var status, serves, weight, share []render.Cell
	for i, b := range said {
		switch {
		case b != nil:
			status, serves = append(status, statusCell(b.EffectiveStatus)), append(serves, goodCell(b.MayServe))
			weight, share = append(weight, weightCell(*b)), append(share, wholePercent(shares[i][b.ID]))
			if first == nil || first.EffectiveStatus == api.EffectiveHealthy {
				first = b // the worst state has the most informative reason
			}
		case p.Report.Nodes[i].Error == "": // the node has answered and does not know it
			status, serves = append(status, render.C("unknown")), append(serves, render.C(render.None))
			weight, share = append(weight, render.C(render.None)), append(share, render.C(render.None))
		}
	}
	return []render.Cell{render.C(first.Service), render.C(endpoint(first.Address, first.Port)), orNone(first.Region),
		differing(status), differing(serves), differing(weight),
		differing(share), p.app.Ago(first.AgentLastSeen), latencyCell(first.ValidationLatencyMS),
		render.C(reason(*first))}
}

// agents returns the latest state of each agent on any node.
func (p *overview) agents() *render.Table {
	var joined []api.Agent
	for _, n := range p.Nodes {
		for _, agent := range n.Agents {
			k := slices.IndexFunc(joined, func(other api.Agent) bool { return other.AgentID == agent.AgentID })
			switch {
			case k < 0:
				joined = append(joined, agent)
			case agent.LastSeen != nil && (joined[k].LastSeen == nil || agent.LastSeen.After(*joined[k].LastSeen)):
				joined[k] = agent
			}
		}
	}
	slices.SortFunc(joined, func(x, y api.Agent) int { return strings.Compare(x.AgentID, y.AgentID) })
	return p.app.agentTable(joined, "No agent is pinned.")
}
