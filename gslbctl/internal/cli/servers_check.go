package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

func (a *app) serversCheckCommand() *cobra.Command {
	var req api.HealthCheckChange
	cmd := &cobra.Command{
		Use:               "check " + backendForms,
		Short:             "Show or change the health check of a server",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.serverArgument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if req != (api.HealthCheckChange{}) {
				return a.ChangeEach(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
					_, err := c.ChangeServerHealthCheck(ctx, id, req)
					return "the check of " + id + " is changed", err
				})
			}
			shown, err := fleet.First(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).ServerHealthCheck, id))
			if err != nil {
				return err
			}
			return a.Print(shown, a.Table(checkTable(shown.HealthCheck)))
		},
	}
	checkFlags(cmd, &req, "")
	return cmd
}

// checkFlags adds the flags for the settings of a health check. Only given flags are in req. Names begin with prefix.
func checkFlags(cmd *cobra.Command, req *api.HealthCheckChange, prefix string) {
	flags := cmd.Flags()
	cmdline.Optional(cmd, flags.BoolVar, &req.Enabled, prefix+"enabled", true,
		"run own checks of the server; false uses only the reports of agents")
	cmdline.Optional(cmd, flags.StringVar, &req.Type, prefix+"type", "", check.Types())
	cmdline.Optional(cmd, flags.StringVar, &req.Path, prefix+"path", "", "path of http and https checks")
	cmdline.Optional(cmd, flags.StringVar, &req.Interval, prefix+"interval", "", "time between two checks, such as 5s")
	cmdline.Optional(cmd, flags.StringVar, &req.Timeout, "check-timeout", "", "maximum time of a check, such as 2s")
	cmdline.Optional(cmd, flags.StringVar, &req.ExpectedStatus, prefix+"expected-status", "",
		"healthy statuses of http and https, such as 200,301-308")
	cmdline.Optional(cmd, flags.IntVar, &req.HealthyThreshold, prefix+"healthy-threshold", 0,
		"successes in a row that make it healthy")
	cmdline.Optional(cmd, flags.IntVar, &req.UnhealthyThreshold, prefix+"unhealthy-threshold", 0,
		"failures in a row that make it unhealthy")
}

func checkTable(h api.HealthCheck) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "CHECKED"}, {Name: "TYPE"}, {Name: "PATH"}, {Name: "EVERY"},
		{Name: "TIMEOUT"},
		{Name: "HEALTHY AFTER", Right: true}, {Name: "UNHEALTHY AFTER", Right: true}, {Name: "STATUS"}}}
	cells := []render.Cell{render.C(render.YesNo(h.Enabled)), render.C(h.Type), orNone(h.Path), render.C(h.Interval),
		render.C(h.Timeout),
		render.C(strconv.Itoa(h.HealthyThreshold)), render.C(strconv.Itoa(h.UnhealthyThreshold)),
		orNone(h.ExpectedStatus)}
	if h.Note != "" {
		t.Columns, cells = append(t.Columns, render.Column{Name: "NOTE"}), append(cells, render.C(h.Note))
	}
	t.Add(cells...)
	return t
}
