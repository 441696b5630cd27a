package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// maxProblems bounds the problems on the screen.
const maxProblems = 20

// judge computes the overall status and the list of problems. A problem of several nodes is listed
// once with their names.
func (r *statusReport) judge(now time.Time) {
	seen := map[string][]string{}
	var order []string
	for _, n := range r.Nodes {
		r.Status = worse(r.Status, n)
		for _, problem := range nodeProblems(n, now) {
			if seen[problem] == nil {
				order = append(order, problem)
			}
			seen[problem] = append(seen[problem], n.Node)
		}
	}
	for _, problem := range order {
		if nodes := seen[problem]; len(nodes) < len(r.Nodes) && (len(nodes) > 1 || !strings.Contains(problem, nodes[0])) {
			problem += " (on " + strings.Join(nodes, ", ") + ")"
		}
		r.Problems = append(r.Problems, problem)
	}
}

// worse combines the status so far with that of one more node. A silent node only degrades the
// service, because others still answer.
func worse(so api.ServiceStatus, n nodeStatus) api.ServiceStatus {
	order := []api.ServiceStatus{api.ServiceHealthy, api.ServiceDegraded, api.ServiceUnhealthy}
	status := api.ServiceDegraded
	if n.Health != nil && (n.Error == "" || n.Health.Status != api.ServiceHealthy) {
		status = n.Health.Status
	}
	return order[max(slices.Index(order, so), slices.Index(order, status))]
}

func nodeProblems(n nodeStatus, now time.Time) []string {
	var list []string
	if n.Error != "" {
		list = append(list, n.Error)
	}
	if n.Readiness != nil && !n.Readiness.Ready {
		list = append(list, "not ready: "+n.Readiness.Message)
	}
	if n.Stats != nil && n.Stats.ValidationSuspended {
		list = append(list,
			"the node's own checks fail everywhere at once, so it has set them aside: see whether it is cut off")
	}
	for _, d := range n.Domains {
		switch {
		case d.BackendCount == 0:
			list = append(list, d.Name+" has no backend: none is configured or reported for it")
		case d.HealthyBackends == 0:
			list = append(list, fmt.Sprintf("%s is down: none of its %s is healthy", d.Name,
				render.Count(d.BackendCount, "backend", "backends")))
		}
	}
	for _, b := range n.Unwell {
		if b.Override != nil {
			continue // somebody meant it
		}
		list = append(list, fmt.Sprintf("%s %s in %s is %s: %s", b.Service, endpoint(b.Address, b.Port), b.Region,
			b.EffectiveStatus, reason(b)))
	}
	for _, agent := range n.Expiring {
		list = append(list, fmt.Sprintf("the certificate of %s ends %s: unpin it and renew", agent.AgentID,
			render.Until(agent.NotAfter, now)))
	}
	for _, lock := range n.Locks {
		list = append(list, lockProblem(lock))
	}
	switch {
	case n.KeySync == nil || !n.KeySync.Enabled:
	case n.KeySync.OffReason != nil:
		list = append(list, notExchanged+*n.KeySync.OffReason)
	default:
		for _, p := range n.KeySync.Peers {
			if p.Error != nil {
				list = append(list, fmt.Sprintf("signing keys are not exchanged with %s: %s", p.Peer, *p.Error))
			}
		}
	}
	return list
}

// lockProblem describes the open step of a locked service.
func lockProblem(lock api.TokenLock) string {
	if lock.AdmitsNew {
		return fmt.Sprintf("%s has a locked previous token: remove it from overwatch.previous_agent_tokens", lock.Service)
	}
	return fmt.Sprintf(
		"%s takes no new agents since %s was revoked: change its token, or end it with gslbctl agents unlock %s",
		lock.Service, lock.AgentID, lock.Service)
}

func (a *app) printProblems(report statusReport) error {
	if len(report.Problems) == 0 {
		_, err := fmt.Fprintf(a.Out, "\n%s: nothing needs attention\n", a.painted(report.Status))
		return err
	}
	if _, err := fmt.Fprintf(a.Out, "\n%s: %s\n", a.painted(report.Status),
		render.Count(len(report.Problems), "thing needs attention", "things need attention")); err != nil {
		return err
	}
	shown := report.Problems[:min(len(report.Problems), maxProblems)]
	for _, problem := range shown {
		if _, err := fmt.Fprintln(a.Out, "  - "+render.Printable(problem)); err != nil {
			return err
		}
	}
	if more := len(report.Problems) - len(shown); more > 0 {
		_, err := fmt.Fprintf(a.Out, "  - and %d more: gslbctl status -o json lists all\n", more)
		return err
	}
	return nil
}

func (a *app) painted(status api.ServiceStatus) string {
	cell := statusCell(status)
	return render.Paint(render.Printable(cell.Text), cell.Tone, a.colour())
}
