package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) healthCommand() *cobra.Command {
	cmd := a.watchable(&cobra.Command{
		Use:   "health",
		Short: "Show whether a node is healthy and ready",
		Long: "health shows what one node says of itself, and needs no place in its allowed networks.\n" +
			"The exit code is 0 when it is healthy, 1 when it is degraded or unhealthy, 2 when it does not answer.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showHealth(cmd.Context()) },
	})
	cmd.AddCommand(a.healthServersCommand(), a.healthRegionsCommand())
	return cmd
}

// healthReport is the state of a node that needs no token.
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

func (a *app) showHealth(ctx context.Context) error {
	report, err := read(ctx, a, readHealth)
	if err != nil {
		return err
	}
	status := statusCell(report.Health.Status)
	ready := "ready"
	if !report.Readiness.Ready {
		ready = "not ready: " + report.Readiness.Message
	}
	why := ""
	if report.Health.Message != "" {
		why = render.Printable(report.Health.Message) + "\n"
	}
	err = a.print(report, func() error {
		_, err := fmt.Fprintf(a.Out, "%s, %s, version %s, up %s\n%s",
			render.Paint(render.Printable(status.Text), status.Tone, a.colour()),
			render.Printable(ready), render.Printable(report.Health.Version),
			render.Span(time.Duration(report.Health.UptimeSeconds)*time.Second), why)
		return err
	})
	if err == nil && report.Health.Status != api.ServiceHealthy {
		return &outcome{code: exitDegraded}
	}
	return err
}

func (a *app) healthServersCommand() *cobra.Command {
	return lists(a, "servers", "Show the health record of every server",
		(*api.Client).ServerHealth, func(list api.ServerHealthList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 3}, {Name: "STATUS"},
					{Name: "CHECKED", Spare: 2}, {Name: "LAST HEALTHY", Spare: 5},
					{Name: "FAILURES", Right: true, Spare: 4}, {Name: "SUCCESSES", Right: true, Spare: 6}, {Name: "ERROR", Spare: 1}},
				Empty: "No servers are registered.",
			}
			for _, s := range list.Servers {
				problem := render.None
				if s.LastError != nil {
					problem = *s.LastError
				}
				t.AddNamed(s.ID, render.C(s.Service), render.C(endpoint(s.Address, s.Port)), orNone(s.Region), statusCell(s.Status),
					a.ago(s.LastCheck), a.ago(s.LastHealthy),
					number(s.ConsecutiveFailures), number(s.ConsecutiveSuccesses), render.C(problem))
			}
			return t
		})
}

func (a *app) healthRegionsCommand() *cobra.Command {
	return lists(a, "regions", "Sum up the health of each region",
		(*api.Client).RegionHealth, func(list api.RegionHealthList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "REGION"}, {Name: "HEALTHY", Right: true}, {Name: "PERCENT", Right: true}},
				Empty:   "No region has a server.",
			}
			for _, r := range list.Regions {
				t.AddNamed(r.Name, orNone(r.Name), healthyOf(r.HealthyCount, r.TotalServers),
					render.C(strconv.FormatFloat(r.HealthPercent, 'f', 0, 64)+"%"))
			}
			return t
		})
}
