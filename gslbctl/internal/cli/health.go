package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) healthCommand() *cobra.Command {
	cmd := a.NodeFlag(a.Watchable(&cobra.Command{
		Use:   "health",
		Short: "Show the health of the nodes",
		Long: "health shows the health of each node. It works from any network, without a token.\n\n" +
			"The exit code is 0 if all nodes are healthy, 1 if a node is degraded, unhealthy or does not answer,\n" +
			"2 if no node answers.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showHealth(cmd.Context()) },
	}))
	cmd.AddCommand(a.healthServersCommand(), a.healthRegionsCommand())
	return cmd
}

// healthReport is the health of a node, which requires no token.
type healthReport struct {
	Health    api.Health    `json:"health"`
	Readiness api.Readiness `json:"readiness"`
}

func readHealth(ctx context.Context, c *api.Client) (healthReport, error) {
	health, err := c.Health(ctx)
	if err != nil {
		return healthReport{}, err
	}
	readiness, err := c.Readiness(ctx)
	return healthReport{health, readiness}, err
}

// clusterHealth is the output of health: the state of each node, and the worst status. For a single node, the top level
// repeats its fields.
type clusterHealth struct {
	Status api.ServiceStatus `json:"status"` // at best degraded if a node does not answer
	*healthReport
	Nodes []nodeHealth `json:"nodes"`
}

type nodeHealth struct {
	fleet.Asked
	*healthReport
}

func (a *app) showHealth(ctx context.Context) error {
	g, err := fleet.Gather(ctx, a.Fleet, readHealth)
	if err != nil {
		return err
	}
	all := joinHealth(g)
	err = a.Print(all, func() string {
		if g.Several() {
			return a.Text(healthTable(all))
		}
		return a.healthText(all.healthReport)
	})
	if err != nil || all.Status == api.ServiceHealthy {
		return g.Done(err)
	}
	return cmp.Or(g.Missing(), error(&fleet.Error{Code: fleet.Degraded}))
}

func joinHealth(g fleet.Gathered[healthReport]) clusterHealth {
	all := clusterHealth{Status: api.ServiceHealthy}
	said := map[string]*healthReport{}
	for i := range g.Answers {
		said[g.Answers[i].Node] = &g.Answers[i].Value
	}
	for _, n := range g.Nodes {
		one := nodeStatus{Error: n.Error}
		if report := said[n.Node]; report != nil {
			one.Health = &report.Health
		}
		all.Status = worse(all.Status, one)
		all.Nodes = append(all.Nodes, nodeHealth{n, said[n.Node]})
	}
	if !g.Several() {
		all.healthReport = said[g.Nodes[0].Node]
	}
	return all
}

func healthTable(all clusterHealth) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NODE"}, {Name: "STATUS"}, {Name: "READY"}, {Name: "VERSION"},
		{Name: "UP"}, {Name: "WHY", Spare: 1}}}
	for _, n := range all.Nodes {
		if n.healthReport == nil {
			t.Add(render.C(n.Node), render.Cell{Text: "no answer", Tone: render.Bad}, render.C(render.None),
				render.C(render.None), render.C(render.None), render.C(n.Error))
			continue
		}
		why := strings.Trim(n.Health.Message+"; "+n.Readiness.Message, "; ")
		t.Add(render.C(n.Node), statusCell(n.Health.Status), goodCell(n.Readiness.Ready), render.C(n.Health.Version),
			render.C(render.Span(time.Duration(n.Health.UptimeSeconds)*time.Second)), orNone(why))
	}
	return t
}

// healthText returns the state of a single node.
func (a *app) healthText(report *healthReport) string {
	ready := "ready"
	if !report.Readiness.Ready {
		ready = "not ready: " + report.Readiness.Message
	}
	lines := []string{fmt.Sprintf(", %s, version %s, up %s", ready, report.Health.Version,
		render.Span(time.Duration(report.Health.UptimeSeconds)*time.Second))}
	if report.Health.Message != "" {
		lines = append(lines, report.Health.Message)
	}
	return a.painted(report.Health.Status) + render.Lines(lines)
}
