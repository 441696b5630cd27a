package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// checkFlags are the flags for the settings of a health check. Only given ones are sent.
type checkFlags struct {
	kind, path, interval, timeout, expected string
	healthy, unhealthy                      int
	enabled                                 bool
}

func (f *checkFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.enabled, "enabled", true, "false: the nodes do not check the server, and go by agents alone")
	cmd.Flags().StringVar(&f.kind, "type", "", check.Types())
	cmd.Flags().StringVar(&f.path, "path", "", "what http and https ask for")
	cmd.Flags().StringVar(&f.interval, "interval", "", "time between two checks, such as 5s")
	cmd.Flags().StringVar(&f.timeout, "check-timeout", "", "longest time that one check may take, such as 2s")
	cmd.Flags().StringVar(&f.expected, "expected-status", "", "healthy statuses of http and https, such as 200,301-308")
	cmd.Flags().IntVar(&f.healthy, "healthy-threshold", 0, "successes in a row that make it healthy")
	cmd.Flags().IntVar(&f.unhealthy, "unhealthy-threshold", 0, "failures in a row that make it unhealthy")
}

func (f *checkFlags) request(cmd *cobra.Command) api.HealthCheckChange {
	return api.HealthCheckChange{
		Enabled:            given(cmd, "enabled", &f.enabled),
		Type:               given(cmd, "type", &f.kind),
		Path:               given(cmd, "path", &f.path),
		Interval:           given(cmd, "interval", &f.interval),
		Timeout:            given(cmd, "check-timeout", &f.timeout),
		ExpectedStatus:     given(cmd, "expected-status", &f.expected),
		HealthyThreshold:   given(cmd, "healthy-threshold", &f.healthy),
		UnhealthyThreshold: given(cmd, "unhealthy-threshold", &f.unhealthy),
	}
}

func (a *app) serversCheckCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:               "check <id>",
		Short:             "Show how a server is checked, or change it with flags",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.firstArgument(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := f.request(cmd)
			if req != (api.HealthCheckChange{}) {
				return a.change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
					_, err := c.ChangeServerHealthCheck(ctx, args[0], req)
					return "the check of " + args[0] + " is changed", err
				})
			}
			shown, err := read(cmd.Context(), a, with((*api.Client).ServerHealthCheck, args[0]))
			if err != nil {
				return err
			}
			return a.print(shown, a.table(checkTable(shown.HealthCheck)))
		},
	}
	f.add(cmd)
	return cmd
}

func checkTable(h api.HealthCheck) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "CHECKED"}, {Name: "TYPE"}, {Name: "PATH"}, {Name: "EVERY"},
		{Name: "TIMEOUT"},
		{Name: "HEALTHY AFTER", Right: true}, {Name: "UNHEALTHY AFTER", Right: true}, {Name: "STATUS"}}}
	cells := []render.Cell{render.C(render.YesNo(h.Enabled)), render.C(h.Type), orNone(h.Path), render.C(h.Interval),
		render.C(h.Timeout),
		render.C(strconv.Itoa(h.HealthyThreshold)), render.C(strconv.Itoa(h.UnhealthyThreshold)), orNone(h.ExpectedStatus)}
	if h.Note != "" {
		t.Columns, cells = append(t.Columns, render.Column{Name: "NOTE"}), append(cells, render.C(h.Note))
	}
	t.Add(cells...)
	return t
}
