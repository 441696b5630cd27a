package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) metricsCommand() *cobra.Command {
	return group("metrics", "Show what nodes, agents and regions do, in figures", a.metricsOverviewCommand(),
		a.metricsHistoryCommand(),
		a.metricsNodeCommand(), a.metricsRegionCommand(), a.metricsRoutingCommand())
}

// figures returns a command that shows one object, one field per line.
func figures[T any](a *app, cmd *cobra.Command,
	ask func(context.Context, *api.Client, []string) (T, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer, err := read(cmd.Context(), a, func(ctx context.Context, c *api.Client) (T,
			error) {
			return ask(ctx, c, args)
		})
		if err != nil {
			return err
		}
		t, err := figureTable(answer)
		if err != nil {
			return err
		}
		return a.print(answer, a.table(t))
	}
	return a.watchable(cmd)
}

func (a *app) metricsOverviewCommand() *cobra.Command {
	return figures(a, &cobra.Command{Use: "overview", Short: "Sum up what a node does now", Args: cobra.NoArgs},
		func(ctx context.Context, c *api.Client, _ []string) (api.OverviewAnswer, error) {
			return c.Overview(ctx)
		})
}

func (a *app) metricsNodeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "node <id>", Short: "Show what one node or agent does", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.firstArgument(agentNodeNames)}
	return figures(a, cmd, func(ctx context.Context, c *api.Client, args []string) (api.NodeMetricsAnswer, error) {
		return c.NodeMetrics(ctx, args[0])
	})
}

func (a *app) metricsRegionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "region <name>", Short: "Show what one region does", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.firstArgument(allRegionNames)}
	return figures(a, cmd, func(ctx context.Context, c *api.Client, args []string) (api.RegionMetricsAnswer, error) {
		return c.RegionMetrics(ctx, args[0])
	})
}

func (a *app) metricsRoutingCommand() *cobra.Command {
	return figures(a, &cobra.Command{Use: "routing", Short: "Count how answers were chosen", Args: cobra.NoArgs},
		func(ctx context.Context, c *api.Client, _ []string) (api.RoutingStatsAnswer, error) {
			return c.RoutingMetrics(ctx)
		})
}

// figureTable returns a table of the object in an answer, one line per field. Fields of nested
// objects are named object.field.
func figureTable(answer any) (*render.Table, error) {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var wrapped map[string]map[string]any
	dec := json.NewDecoder(strings.NewReader(string(encoded)))
	dec.UseNumber() // counts stay whole
	if err := dec.Decode(&wrapped); err != nil {
		return nil, err
	}
	t := &render.Table{Columns: []render.Column{{Name: "FIGURE"}, {Name: "VALUE", Right: true}}}
	for _, object := range wrapped {
		fields := flat(object)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			t.Add(render.C(name), orNone(figureText(name, fields[name])))
		}
	}
	return t, nil
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

// historyShown are the default metrics in the table of a history.
var historyShown = []string{"queries_per_sec", "error_rate", "response_p99_ms", "healthy_servers", "unhealthy_servers",
	"stale_servers"}

func (a *app) metricsHistoryCommand() *cobra.Command {
	var duration time.Duration
	var metrics []string
	var resolution string
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "Show what a node did in the last hours or days",
		Example: "  gslbctl metrics history --since 24h --resolution 1h --metrics queries_per_sec,error_rate",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if duration <= 0 {
				return errors.New("--since must be above zero, such as 1h")
			}
			query := url.Values{"duration": {duration.String()}}
			if len(metrics) > 0 {
				query.Set("metrics", strings.Join(metrics, ","))
			}
			if resolution != "" {
				query.Set("resolution", resolution)
			}
			h, err := read(cmd.Context(), a, with((*api.Client).History, query))
			if err != nil {
				return err
			}
			return a.print(h, a.table(historyTable(h, metrics)))
		},
	}
	spanVar(cmd.Flags(), &duration, "since", time.Hour, "how far back, such as 1d")
	cmd.Flags().StringSliceVar(&metrics, "metrics", nil, "only these, separated by commas")
	cmd.Flags().StringVar(&resolution, "resolution", "", "time between two points: 1m, 5m or 1h (default: what fits)")
	return a.watchable(cmd)
}

// historyTable has a column for each metric in named, or else for each measured metric of
// historyShown.
func historyTable(h api.History, named []string) *render.Table {
	measured := map[string]bool{}
	for _, p := range h.DataPoints {
		for name := range p.Values {
			measured[name] = true
		}
	}
	shown := named
	if len(shown) == 0 {
		shown = slices.DeleteFunc(slices.Clone(historyShown), func(name string) bool { return !measured[name] })
	}
	if len(shown) == 0 {
		shown = slices.Sorted(maps.Keys(measured))
	}
	t := &render.Table{Columns: []render.Column{{Name: "TIME"}}, Empty: "Nothing was measured in that time."}
	for _, name := range shown {
		t.Columns = append(t.Columns, render.Column{Name: strings.ToUpper(name), Right: true})
	}
	for _, p := range h.DataPoints {
		row := []render.Cell{render.C(p.Timestamp.UTC().Format(time.RFC3339))}
		for _, name := range shown {
			value, there := p.Values[name]
			if !there {
				row = append(row, render.C(render.None))
				continue
			}
			row = append(row, render.C(figureText(name, json.Number(fmt.Sprint(value)))))
		}
		t.Add(row...)
	}
	return t
}
