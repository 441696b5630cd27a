package cli

import (
	"fmt"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// printPlan shows a plan to people: its objects, then its answers, then a line that sums it up.
func (a *app) printPlan(plan api.Plan) error {
	if len(plan.Changes) == 0 {
		_, err := fmt.Fprintf(a.Out, "Nothing to do: %s as the document says.\n",
			isOrAre(plan.Unchanged, "object is", "objects are"))
		return err
	}
	t := &render.Table{Columns: []render.Column{{Name: "WHAT"}, {Name: "KIND"}, {Name: "WHICH"}, {Name: "CHANGE"}}}
	for _, c := range plan.Changes {
		t.Add(render.C(string(c.Action)), render.C(c.Kind), render.C(c.ID), orNone(fieldsOf(c.Fields)))
	}
	if err := a.table(t)(); err != nil {
		return err
	}
	for _, line := range answerLines(plan) {
		if _, err := fmt.Fprintln(a.Out, render.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

func isOrAre(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

func fieldsOf(fields []api.PlanField) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.Name+" "+orDash(f.Before)+" -> "+orDash(f.After))
	}
	return strings.Join(list, ", ")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// answerLines returns sentences about the effect of a plan on answers, and about the number of objects that change.
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
		lines = append(lines, fmt.Sprintf("%d names were not looked at", answers.Skipped))
	}
	sum := fmt.Sprintf("%d to create, %d to change, %d to delete, %d as they are", counts[api.PlanCreate],
		counts[api.PlanUpdate], counts[api.PlanDelete], plan.Unchanged)
	if plan.Applied {
		sum = fmt.Sprintf("Done: %d created, %d changed, %d deleted, %d as they were", counts[api.PlanCreate],
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

// movesLine returns a sentence about the part of the last hour's answers that would go to another region.
func movesLine(answers api.PlanAnswers) string {
	if answers.Total == 0 {
		return "There were no answers in the last hour, so that no part of them can be told."
	}
	line := fmt.Sprintf("Of the last hour's %d answers %s %% go elsewhere", answers.Total, part(answers.ElsewherePercent))
	var moves []string
	const shown = 5
	for _, m := range answers.Moves[:min(len(answers.Moves), shown)] {
		moves = append(moves, fmt.Sprintf("%s %% %s -> %s", part(m.Percent), orNobody(m.From), orNobody(m.To)))
	}
	if len(moves) > 0 {
		line += ": " + strings.Join(moves, ", ")
	}
	return line + "."
}

func orNobody(region string) string {
	if region == "" {
		return "none"
	}
	return region
}

// part formats a percentage with one decimal, or more where it is small.
func part(percent float64) string {
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
		list = append(list, fmt.Sprintf("%s %s %%", s.Address, part(s.Share*100)))
	}
	if more := len(shares) - shown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}
