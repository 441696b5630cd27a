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

// compareOverview compares the first line, the conditions, the counters, the legend of the chart, the names, the
// regions and the nodes of the overview.
func (p *page) compareOverview(ctx context.Context, n *harness.Node) error {
	stats, err1 := n.Client.Stats(ctx)
	conditions, err2 := n.Client.Conditions(ctx)
	domains, err3 := n.Client.Domains(ctx)
	nodes, err4 := n.Client.OverwatchNodes(ctx)
	var seen struct {
		Headline             string
		Conditions           []string
		Tiles, Facts, Legend map[string]string
		Good                 []string
	}
	err5 := p.shown(`{
		headline: document.querySelector('#band').innerText,
		conditions: [...document.querySelectorAll('.band .sentence')].map((e) =>
			[...e.children].map((part) => part.textContent.trim()).join(': ')),
		tiles: Object.fromEntries([...document.querySelectorAll('.tile')].map((e) =>
			[e.querySelector('dt').innerText, e.querySelector('.value').innerText])),
		facts: Object.fromEntries([...document.querySelectorAll('[aria-labelledby=facts] dt')].map((e) =>
			[e.innerText, e.nextElementSibling.innerText.trim()])),
		legend: Object.fromEntries([...document.querySelectorAll('.legend')].map((e) =>
			e.innerText.trim().split(/\s+/))),
		good: [...document.querySelectorAll('.band.good, [aria-labelledby=severity] .good, [aria-labelledby=regions] .good')].
			map((e) => e.innerText),
	}`, &seen)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	answered, online, unanswered := 0, 0, 0
	for _, d := range domains.Domains {
		if d.AnswerStatus != api.AnswersNone {
			answered++
		}
	}
	for _, o := range nodes.Nodes {
		if o.Status == api.OverwatchOnline {
			online++
		}
	}
	want, got := []string{}, slices.Sorted(slices.Values(seen.Conditions))
	for _, c := range conditions.Conditions {
		want = append(want, c.Sentence)
		if c.Kind == api.NameUnanswered {
			unanswered++
		}
	}
	slices.Sort(want)
	if !slices.Equal(want, got) {
		return fmt.Errorf("the page has the conditions %q, the API %q", got, want)
	}
	if unanswered > 0 && !strings.HasPrefix(seen.Headline, fmt.Sprintf("no answer for %d name", unanswered)) {
		return fmt.Errorf("the first line is %q, %d names have no answer", seen.Headline, unanswered)
	}
	if stats.ServingBackends == 0 && len(seen.Good) > 0 {
		return fmt.Errorf("no backend serves, and the page shows %q as good", seen.Good)
	}
	serving := fmt.Sprintf("%d/%d", stats.ServingBackends, stats.TotalBackends)
	return errors.Join(
		differ("names with an answer", seen.Tiles["names with an answer"], fmt.Sprintf("%d/%d", answered, domains.Total)),
		differ("names with an answer, below", seen.Facts["names with an answer"],
			seen.Tiles["names with an answer"]),
		differ("backends serving", seen.Tiles["backends serving"], serving),
		differ("backends serving, below", seen.Facts["backends serving"], serving),
		differ("nodes", seen.Tiles["nodes online"], fmt.Sprintf("%d/%d", online, nodes.Total)),
		differ("status", strings.TrimLeft(seen.Facts["status"], "●▲■ "), string(conditions.Status)),
		differ("healthy", seen.Legend["healthy"], fmt.Sprint(stats.HealthyBackends)),
		differ("unhealthy", seen.Legend["unhealthy"], fmt.Sprint(stats.UnhealthyBackends)),
		differ("stale", seen.Legend["stale"], fmt.Sprint(stats.StaleBackends)),
		differ("unhealthy, below", seen.Facts["unhealthy backends"], seen.Legend["unhealthy"]),
		differ("healthy, below", seen.Facts["healthy backends"], seen.Legend["healthy"]),
		p.compareNames(ctx, n, "names by severity"),
	)
}

// compareNames compares the serving and required backends of each name.
func (p *page) compareNames(ctx context.Context, n *harness.Node, table string) error {
	domains, err := n.Client.Domains(ctx)
	rows := map[string][]string{}
	if err := errors.Join(err, p.shown(rowsOf(table), &rows)); err != nil {
		return err
	}
	words := map[api.AnswerStatus]string{api.AnswersNone: " ■ no answer"}
	for _, d := range domains.Domains {
		mark := "▲"
		switch {
		case d.AnswerStatus == api.AnswersNone:
			mark = "■"
		case d.ServingBackends == d.BackendCount:
			mark = "●"
		}
		if len(rows[d.Name]) < 3 {
			return fmt.Errorf("%s has the row %q", d.Name, rows[d.Name])
		}
		if err := errors.Join(
			differ(d.Name, rows[d.Name][1], fmt.Sprintf("%s %d of %d%s", mark, d.ServingBackends, d.BackendCount,
				words[d.AnswerStatus])),
			differ(d.Name+" required", rows[d.Name][2], fmt.Sprint(d.RequiredBackends))); err != nil {
			return err
		}
	}
	return nil
}
