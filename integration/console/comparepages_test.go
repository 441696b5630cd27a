package console_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// compareName compares the summary, the answers, each backend and the end of each bar of the page of a name.
func (p *page) compareName(ctx context.Context, n *harness.Node, name string) error {
	d, err1 := n.Client.Domain(ctx, name)
	backends, err2 := n.Client.Backends(ctx, api.BackendFilter{Service: name})
	var seen struct {
		Summary   string
		Decisions []string
		Rows      map[string][]string
		Bars      map[string]string
	}
	err3 := p.shown(`{
		summary: document.querySelector('.summary').innerText.replace(/\s+/g, ' '),
		decisions: [...document.querySelectorAll('[aria-labelledby=answers] h3 .status')].map((e) => e.innerText.trim()),
		rows: `+rowsOf("backends of "+name)+`,
		bars: Object.fromEntries([...document.querySelectorAll('.track')].map((e) => {
			const last = [...e.querySelectorAll('.outage')].filter((r) =>
				r.x.baseVal.value + r.width.baseVal.value >= 1439.98).at(-1);
			return [e.querySelector('.mono').innerText, last ? last.style.fill : ''];
		})),
	}`, &seen)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if !strings.Contains(seen.Summary, fmt.Sprintf("%d of %d serve ■ no answer requires %d", d.Domain.ServingBackends,
		d.Domain.BackendCount, d.Domain.RequiredBackends)) {
		return fmt.Errorf("the summary is %q", seen.Summary)
	}
	for _, decision := range seen.Decisions {
		if decision != "■ no answer" {
			return fmt.Errorf("an answer is %q", decision)
		}
	}
	if err := differ("the bar of the name", seen.Bars[name], "var(--bad)"); err != nil {
		return err
	}
	for _, b := range backends.Backends {
		at := strings.TrimPrefix(b.ID, name+":")
		cells := seen.Rows[at+" "+b.Region]
		if len(cells) < 2 || !strings.HasPrefix(cells[1], "■ "+string(b.EffectiveStatus)) ||
			!strings.HasSuffix(cells[1], "does not serve") || b.MayServe {
			return fmt.Errorf("%s has the row %q", b.ID, cells)
		}
		if !b.Draining { // a drained backend had stopped serving before
			if err := differ("the bar of "+b.ID, seen.Bars[at], "var(--bad)"); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareMap compares each region of the map, and the names of the selected region.
func (p *page) compareMap(ctx context.Context, n *harness.Node) error {
	regions, err1 := n.Client.Regions(ctx)
	var seen struct {
		Labels  []string
		Classes []string
		Names   []string
	}
	err2 := p.shown(`{
		labels: [...document.querySelectorAll('.region')].map((e) => e.getAttribute('aria-label')).sort(),
		classes: [...document.querySelectorAll('.region')].map((e) => e.getAttribute('class')),
		names: [...document.querySelectorAll('[aria-labelledby=chosen] .status')].map((e) => e.innerText.trim()),
	}`, &seen)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var want []string
	for _, r := range regions.Regions {
		want = append(want, fmt.Sprintf("%s %d/%d backends serve", r.Name, r.ServingServers, r.ServerCount))
	}
	slices.Sort(want)
	if !slices.Equal(seen.Labels, want) {
		return fmt.Errorf("the map has %q, the API %q", seen.Labels, want)
	}
	for _, class := range seen.Classes {
		if class != "region bad" {
			return fmt.Errorf("a region has the class %q", class)
		}
	}
	for _, word := range seen.Names {
		if !strings.HasPrefix(word, "■ 0 of ") {
			return fmt.Errorf("the selected region has %q", word)
		}
	}
	return nil
}

// compareAgents compares the status of each agent.
func (p *page) compareAgents(ctx context.Context, n *harness.Node) error {
	agents, err := n.Client.AgentNodes(ctx)
	rows := map[string][]string{}
	if err := errors.Join(err, p.shown(rowsOf("agents"), &rows)); err != nil {
		return err
	}
	if len(rows) != agents.Total {
		return fmt.Errorf("the page has %d agents, the API %d", len(rows), agents.Total)
	}
	for first, cells := range rows {
		id, _, _ := strings.Cut(first, " ")
		at := slices.IndexFunc(agents.Nodes, func(a api.AgentNode) bool { return a.ID == id })
		if at < 0 || !strings.HasPrefix(cells[1], "● "+string(agents.Nodes[at].Status)) {
			return fmt.Errorf("agent %s has the row %q", id, cells)
		}
	}
	return nil
}
