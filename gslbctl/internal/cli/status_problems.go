package cli

import (
	"fmt"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// maxProblems bounds the problems on the screen.
const maxProblems = 20

// judge computes the overall status and the list of problems. If several nodes report a problem, the list has one entry
// with their names.
func (r *statusReport) judge() {
	type seen struct{ problem, node string }
	var all []seen
	for _, n := range r.Nodes {
		r.Status = worse(r.Status, n)
		for _, problem := range nodeProblems(n) {
			all = append(all, seen{problem, n.Node})
		}
	}
	for _, on := range grouped(all, func(s seen) string { return s.problem }) {
		problem := on[0].problem
		if len(on) < len(r.Nodes) && (len(on) > 1 || !strings.Contains(problem, on[0].node)) {
			problem += " (on " + strings.Join(each(on, func(s seen) string { return s.node }), ", ") + ")"
		}
		r.Problems = append(r.Problems, problem)
	}
}

// worse combines a status with the status of another node. An unreachable node only degrades the service, because other
// nodes answer.
func worse(so api.ServiceStatus, n nodeStatus) api.ServiceStatus {
	order := []api.ServiceStatus{api.ServiceHealthy, api.ServiceDegraded, api.ServiceUnhealthy}
	status := api.ServiceDegraded
	if n.Health != nil && (n.Error == "" || n.Health.Status != api.ServiceHealthy) {
		status = n.Health.Status
	}
	return order[max(slices.Index(order, so), slices.Index(order, status))]
}

// nodeProblems returns the problems that one node reports, each with the command that shows or repairs it.
func nodeProblems(n nodeStatus) []string {
	var list []string
	if n.Error != "" {
		list = append(list, n.Error)
		if n.Readiness != nil && !n.Readiness.Ready {
			list = append(list, "not ready: "+n.Readiness.Message)
		}
	}
	for _, c := range n.Conditions {
		list = append(list, fmt.Sprintf("%s (%s)", c.Sentence, c.Command))
	}
	return list
}

// maxDiffering is the maximum number of differences in the list of problems.
const maxDiffering = 3

// addDifferences adds a problem that names facts on which nodes disagree, and lowers a healthy status to degraded.
func (r *statusReport) addDifferences(list []difference) {
	if len(list) == 0 {
		return
	}
	var names []string
	for _, d := range list[:min(len(list), maxDiffering)] {
		names = append(names, d.Kind+" "+d.Name)
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	r.Problems = append(r.Problems, fmt.Sprintf("the nodes differ: %s (gslbctl diff)", strings.Join(names, ", ")))
	if r.Status == api.ServiceHealthy {
		r.Status = api.ServiceDegraded
	}
}

// headline returns the first line of the report: the status and the number of problems.
func (a *app) headline(r statusReport) string {
	switch n := len(r.Problems); {
	case n == 0:
		return a.painted(r.Status) + ": nothing needs attention"
	case r.Status == api.ServiceHealthy:
		return render.Paint("attention", render.Warn, a.Color()) + fmt.Sprintf(": %d", n)
	default:
		return a.painted(r.Status) + ": " + render.Count(n, "thing needs attention", "things need attention")
	}
}

// problemsText returns the headline and at most limit problems. all is the command that lists all problems.
func (a *app) problemsText(r statusReport, limit int, all string) string {
	lines := []string{""} // ends the headline
	for _, problem := range r.Problems[:min(len(r.Problems), limit)] {
		lines = append(lines, "  - "+problem)
	}
	if more := len(r.Problems) - limit; more > 0 {
		lines = append(lines, fmt.Sprintf("  - and %d more: %s", more, all))
	}
	return a.headline(r) + render.Lines(lines)
}

func (a *app) painted(status api.ServiceStatus) string {
	cell := statusCell(status)
	return render.Paint(render.Printable(cell.Text), cell.Tone, a.Color())
}
