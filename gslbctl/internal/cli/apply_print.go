package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// planText returns the text of a plan: objects, answers, and a summary line.
func (a *app) planText(plan api.Plan) string {
	if len(plan.Changes) == 0 {
		return fmt.Sprintf("Nothing to do: %s unchanged.\n",
			render.Count(plan.Unchanged, "object is", "objects are"))
	}
	t := &render.Table{Columns: []render.Column{{Name: "WHAT"}, {Name: "KIND"}, {Name: "WHICH"}, {Name: "CHANGE"}}}
	for _, c := range plan.Changes {
		t.Add(render.C(string(c.Action)), render.C(c.Kind), render.C(c.ID), orNone(fieldsOf(c.Fields)))
	}
	return a.Text(t) + render.Lines(answerLines(plan))
}

func fieldsOf(fields []api.PlanField) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.Name+" "+cmp.Or(f.Before, render.None)+" -> "+cmp.Or(f.After, render.None))
	}
	return strings.Join(list, ", ")
}

// answerLines returns sentences about the effect of a plan on answers, and about the number of changed objects.
func answerLines(plan api.Plan) (lines []string) {
	answers, counts := plan.Answers, map[api.PlanAction]int{}
	for _, c := range plan.Changes {
		counts[c.Action]++
	}
	lines = append(lines, "")
	const shown = 20
	for _, n := range answers.Names[:min(len(answers.Names), shown)] {
		from := ""
		if n.ClientRegion != "" {
			from = " from " + n.ClientRegion
		}
		lines = append(lines, fmt.Sprintf("%s %s%s: %s -> %s", n.Name, n.QueryType, from, sharesOf(n.Before),
			sharesOf(n.After)))
	}
	if more := len(answers.Names) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: -o json lists them", more))
	}
	lines = append(lines, movesLine(answers))
	for _, loss := range answers.Losses {
		lines = append(lines, fmt.Sprintf("%s would be left with %d of at least %s", loss.Name, loss.Serving,
			render.Count(loss.Minimum, "backend", "backends")))
	}
	for _, id := range answers.Unused {
		lines = append(lines, "no client would be sent to "+id)
	}
	if answers.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("%d names were not checked", answers.Skipped))
	}
	sum := fmt.Sprintf("%d to create, %d to change, %d to delete, %d unchanged", counts[api.PlanCreate],
		counts[api.PlanUpdate], counts[api.PlanDelete], plan.Unchanged)
	if plan.Applied {
		sum = fmt.Sprintf("Done: %d created, %d changed, %d deleted, %d unchanged", counts[api.PlanCreate],
			counts[api.PlanUpdate], counts[api.PlanDelete], plan.Unchanged)
	}
	lines = append(lines, sum+".")
	if len(plan.RestartRequired) > 0 {
		lines = append(lines, "these keys wait for a restart: "+strings.Join(plan.RestartRequired, ", "))
	}
	if len(plan.Force) > 0 && !plan.Applied {
		lines = append(lines, "apply needs --force: "+strings.Join(plan.Force, "; "))
	}
	return lines
}

// movesLine returns a sentence about the share of the last hour's answers that would change their region.
func movesLine(answers api.PlanAnswers) string {
	if answers.Total == 0 {
		return "There were no answers in the last hour."
	}
	line := fmt.Sprintf("Of the last hour's %d answers %s %% move to another region", answers.Total,
		formatPercent(answers.ElsewherePercent))
	var moves []string
	const shown = 5
	for _, m := range answers.Moves[:min(len(answers.Moves), shown)] {
		moves = append(moves, fmt.Sprintf("%s %% %s -> %s", formatPercent(m.Percent), cmp.Or(m.From, "none"), cmp.Or(m.To,
			"none")))
	}
	if len(moves) > 0 {
		line += ": " + strings.Join(moves, ", ")
	}
	return line + "."
}

// formatPercent formats a percentage with one decimal, or with more decimals for small values.
func formatPercent(percent float64) string {
	if percent != 0 && percent < 0.1 {
		return strconv.FormatFloat(percent, 'g', 2, 64)
	}
	return strconv.FormatFloat(percent, 'f', 1, 64)
}

func sharesOf(shares []api.RoutingShare) string {
	if len(shares) == 0 {
		return "nothing"
	}
	const shown = 6
	var list []string
	for _, s := range shares[:min(len(shares), shown)] {
		list = append(list, fmt.Sprintf("%s %s %%", s.Address, formatPercent(s.Share*100)))
	}
	if more := len(shares) - shown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}
