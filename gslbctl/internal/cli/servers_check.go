package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) serversCheckCommand() *cobra.Command {
	var flags *settingFlags
	cmd := &cobra.Command{
		Use:               "check " + serverForms,
		Short:             "Show or change the health check of a server",
		Long:              serverFormsHelp,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.CompleteArguments(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.serverArguments(cmd.Context(), args)
			if err != nil {
				return err
			}
			if flags.given() {
				req, err := flags.patch()
				if err != nil {
					return err
				}
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
	flags = a.checkFlags(cmd)
	return cmd
}

func checkTable(h api.HealthCheck) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "CHECKED"}, {Name: "TYPE"}, {Name: "PATH"}, {Name: "EVERY"},
		{Name: "TIMEOUT"},
		{Name: "HEALTHY AFTER", Right: true}, {Name: "UNHEALTHY AFTER", Right: true}, {Name: "STATUS"}}}
	cells := []render.Cell{render.C(render.YesNo(!h.Off())), render.C(h.Type), orNone(h.Path),
		render.C(h.Interval.String()),
		render.C(h.Timeout.String()),
		render.C(strconv.Itoa(h.SuccessThreshold)), render.C(strconv.Itoa(h.FailureThreshold)),
		orNone(h.ExpectedStatus)}
	if h.Note != "" {
		t.Columns, cells = append(t.Columns, render.Column{Name: "NOTE"}), append(cells, render.C(h.Note))
	}
	t.Add(cells...)
	return t
}
