package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) statusCommand() *cobra.Command {
	return a.Watchable(&cobra.Command{
		Use:   "status",
		Short: "Show the status of all nodes",
		Long: "status shows all nodes side by side and lists the problems that need attention. The last line is the\n" +
			"overall status: healthy; attention with the number of problems, such as overrides, drains or an\n" +
			"expiring certificate; degraded; or unhealthy.\n\n" +
			"The exit code is 0 for healthy and attention, 1 for degraded and unhealthy, 2 if no node answers.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showStatus(cmd.Context()) },
	})
}

// statusReport is the output of status. Status is the worst status of any node, and at best
// degraded if a node does not answer.
type statusReport struct {
	Status   api.ServiceStatus `json:"status"`
	Problems []string          `json:"problems"`
	Planned  []plannedWindow   `json:"planned"` // windows that have not begun
	Nodes    []nodeStatus      `json:"nodes"`
}

// nodeStatus is the state of a node. Without an answer only Node and Error are set.
type nodeStatus struct {
	Node       string          `json:"node"`
	Error      string          `json:"error,omitempty"`
	Health     *api.Health     `json:"health,omitempty"`
	Readiness  *api.Readiness  `json:"readiness,omitempty"`
	Stats      *api.Stats      `json:"stats,omitempty"`
	Domains    []api.Domain    `json:"domains,omitempty"`
	Conditions []api.Condition `json:"conditions,omitempty"`
	Planned    []api.Order     `json:"-"` // operators' windows that have not begun
	// Replication describes operators' changes without effect on the node. It is nil for an older node.
	Replication *api.Replication `json:"replication,omitempty"`
}

func (a *app) showStatus(ctx context.Context) error {
	clients, err := a.Clients()
	if err != nil {
		return err
	}
	report, err := a.gatherStatus(ctx, clients)
	if err != nil {
		return err
	}
	report.addDifferences(a.differing(ctx, clients))
	err = a.Print(report, func() string {
		return a.Text(nodesTable(report.Nodes)) + "\n" +
			a.problemsText(report, maxProblems, "gslbctl status -o json lists all") + plannedText(report.Planned,
			a.Now())
	})
	if err != nil {
		return err
	}
	if report.Status != api.ServiceHealthy {
		return &fleet.Error{Code: fleet.Degraded}
	}
	return nil
}

// gatherStatus reads the state of all nodes. It returns an error if no node answers.
func (a *app) gatherStatus(ctx context.Context, clients []*api.Client) (statusReport, error) {
	defer a.Progress("asking " + render.Count(len(clients), "node", "nodes"))()
	replies := fleet.AskClients(ctx, clients, readStatus)
	var silent []error
	report := statusReport{Status: api.ServiceHealthy, Problems: []string{}}
	for _, r := range replies {
		if _, unreachable := errors.AsType[*api.UnreachableError](r.Err); unreachable {
			silent = append(silent, r.Err)
		}
		r.Value.Node = r.Node
		if r.Err != nil {
			_, r.Value.Error = fleet.Explain(r.Err)
		}
		report.Nodes = append(report.Nodes, r.Value)
	}
	if len(silent) == len(replies) {
		return report, fleet.ErrNoAnswer(silent)
	}
	report.judge()
	report.Planned = plannedWindows(report.Nodes)
	return report, nil
}

// readStatus reads the state of a node. After a failure it returns the state that it has read.
func readStatus(ctx context.Context, c *api.Client) (nodeStatus, error) {
	var s nodeStatus
	report, err := readHealth(ctx, c)
	if err != nil {
		return s, err
	}
	s.Health, s.Readiness = &report.Health, &report.Readiness
	stats, err := c.Stats(ctx)
	if err != nil {
		return s, err
	}
	s.Stats = &stats
	domains, err := c.Domains(ctx)
	if err != nil {
		return s, err
	}
	s.Domains = domains.Domains
	conditions, err := c.Conditions(ctx)
	s.Conditions = conditions.Conditions
	if err != nil {
		return s, err
	}
	orders, err := c.Orders(ctx)
	if err != nil {
		return s, err
	}
	s.Planned = slices.DeleteFunc(orders.Orders, func(o api.Order) bool { return o.InForce })
	replication, err := c.Replication(ctx)
	if err == nil {
		s.Replication = &replication
	} else if fleet.IsNotFound(err) {
		err = nil
	}
	return s, err
}

// nodesTable returns a table with a column for each node and a row for each fact.
func nodesTable(nodes []nodeStatus) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NODE"}}}
	facts := nodeFacts()
	rows := make([][]render.Cell, len(facts))
	for i, fact := range facts {
		rows[i] = []render.Cell{render.C(fact.name)}
	}
	for _, n := range nodes {
		t.Columns = append(t.Columns, render.Column{Name: n.Node})
		for i, fact := range facts {
			rows[i] = append(rows[i], fact.of(n))
		}
	}
	t.Rows = rows
	return t
}
