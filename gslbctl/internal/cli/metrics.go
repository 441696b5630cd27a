package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) metricsCommand() *cobra.Command {
	return cmdline.Group("metrics", "Show the metrics of nodes, agents, regions and routing", a.metricsOverviewCommand(),
		a.metricsHistoryCommand(),
		a.metricsNodeCommand(), a.metricsRegionCommand(), a.metricsRoutingCommand())
}

// figures makes cmd print the metrics that ask returns: one column for each node, and one column for the cluster.
func figures[T any](a *app, cmd *cobra.Command,
	ask func(context.Context, *api.Client, []string) (T, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		g, err := fleet.Gather(cmd.Context(), a.Fleet, func(ctx context.Context, c *api.Client) (T,
			error) {
			return ask(ctx, c, args)
		})
		if err != nil {
			return err
		}
		all, err := joinFigures(g)
		if err != nil {
			return err
		}
		return g.Done(a.Print(all.output(), a.Table(all.table())))
	}
	return a.NodeFlag(a.Watchable(cmd))
}

func (a *app) metricsOverviewCommand() *cobra.Command {
	return figures(a, &cobra.Command{Use: "overview", Short: "Show the current metrics of the nodes"},
		func(ctx context.Context, c *api.Client, _ []string) (api.OverviewAnswer, error) {
			return c.Overview(ctx)
		})
}

func (a *app) metricsNodeCommand() *cobra.Command {
	return a.NodeFlag(a.Watchable(&cobra.Command{
		Use: "node <id>", Short: "Show the metrics of a node or agent", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(agentNodeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := fleet.GatherKnown(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).NodeMetrics, args[0]))
			if err != nil {
				return err
			}
			// An agent reports the same metrics to all nodes, and a node knows only its own metrics: use the latest answer.
			latest := slices.MaxFunc(g.Answers, func(x, y fleet.Answer[api.NodeMetricsAnswer]) int {
				return x.Value.Metrics.Timestamp.Compare(y.Value.Metrics.Timestamp)
			})
			t, err := figureTable(latest.Value)
			if err != nil {
				return err
			}
			return g.Done(a.Print(struct {
				api.NodeMetricsAnswer
				Nodes []fleet.Asked `json:"nodes"`
			}{latest.Value, g.Nodes}, a.Table(t)))
		},
	}))
}

func (a *app) metricsRegionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "region <name>", Short: "Show the metrics of a region", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(allRegionNames)}
	return figures(a, cmd, func(ctx context.Context, c *api.Client, args []string) (api.RegionMetricsAnswer, error) {
		return c.RegionMetrics(ctx, args[0])
	})
}

func (a *app) metricsRoutingCommand() *cobra.Command {
	return figures(a, &cobra.Command{Use: "routing", Short: "Show the metrics of routing decisions"},
		func(ctx context.Context, c *api.Client, _ []string) (api.RoutingStatsAnswer, error) {
			return c.RoutingMetrics(ctx)
		})
}

// figureTable returns a table of the metrics object in an answer.
func figureTable(answer any) (*render.Table, error) {
	_, fields, err := objectIn(answer)
	return fieldTable(fields), err
}

// fieldTable returns a table of an object, with one row per field. A field of a nested object has the name
// object.field.
func fieldTable(object map[string]any) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "FIGURE"}, {Name: "VALUE", Right: true}}}
	fields := flat(object)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		t.Add(render.C(name), orNone(figureText(name, fields[name])))
	}
	return t
}

// figureText formats a value in the unit of its field name, with readable precision.
func figureText(name string, value any) string {
	number, isNumber := value.(json.Number)
	if !isNumber {
		return valueText(value)
	}
	f, err := number.Float64()
	if err != nil {
		return number.String()
	}
	switch {
	case strings.HasSuffix(name, "_bytes"):
		return bytesText(f)
	case strings.HasSuffix(name, "uptime_seconds"):
		return render.Span(time.Duration(f) * time.Second)
	case strings.HasSuffix(name, "_ms"):
		return strconv.FormatFloat(f, 'g', 4, 64) + " ms"
	case strings.HasSuffix(name, "_us"):
		return strconv.FormatFloat(f, 'g', 4, 64) + " us"
	case name == "error_rate":
		return strconv.FormatFloat(100*f, 'g', 3, 64) + "%"
	case strings.HasSuffix(name, "percent"):
		return strconv.FormatFloat(f, 'f', 1, 64) + "%"
	case strings.ContainsAny(number.String(), ".eE"):
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	return number.String()
}

func bytesText(n float64) string {
	const step = 1024
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; n >= step && i < len(units)-1; i++ {
		n /= step
	}
	return strconv.FormatFloat(n, 'f', min(i, 1), 64) + " " + units[i]
}
