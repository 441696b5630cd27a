package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// historyShown are the default metrics in the table of a history.
var historyShown = []string{"queries_per_sec", "error_rate", "response_p99_ms", "healthy_servers", "unhealthy_servers",
	"stale_servers"}

func (a *app) metricsHistoryCommand() *cobra.Command {
	var duration time.Duration
	var metrics []string
	var resolution string
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "Show the metric history of the last hours or days",
		Example: "  gslbctl metrics history --since 24h --resolution 1h --metrics queries_per_sec,error_rate",
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
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).History, query))
			if err != nil {
				return err
			}
			h := joinHistories(g)
			return g.Done(a.Print(h, a.Table(historyTable(h.History, metrics))))
		},
	}
	cmdline.SpanVar(cmd.Flags(), &duration, "since", time.Hour, "age of the oldest metrics, such as 1d")
	cmd.Flags().StringSliceVar(&metrics, "metrics", nil, "only these metrics, separated by commas")
	cmd.Flags().StringVar(&resolution, "resolution", "", "time between points: 1m, 5m or 1h (default: by --since)")
	return a.NodeFlag(a.Watchable(cmd))
}

// clusterHistory is the output of metrics history.
type clusterHistory struct {
	api.History
	Nodes []fleet.Asked `json:"nodes"`
}

// joinHistories merges the points of all nodes minute by minute with joinNumbers.
func joinHistories(g fleet.Gathered[api.History]) clusterHistory {
	h := clusterHistory{History: api.History{DataPoints: []api.HistoryPoint{}}, Nodes: g.Nodes}
	points := map[time.Time][]map[string]float64{}
	for _, r := range g.Answers {
		if r.Value.GeneratedAt.After(h.GeneratedAt) {
			h.GeneratedAt = r.Value.GeneratedAt
		}
		for _, p := range r.Value.DataPoints {
			at := p.Timestamp
			if len(g.Answers) > 1 {
				at = at.Truncate(time.Minute)
			}
			points[at] = append(points[at], p.Values)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(points), time.Time.Compare) {
		p := api.HistoryPoint{Timestamp: at, Values: map[string]float64{}}
		for _, values := range points[at] {
			for name := range values {
				p.Values[name] = joinNumbers(name, points[at])
			}
		}
		h.DataPoints = append(h.DataPoints, p)
	}
	h.Total = len(h.DataPoints)
	return h
}

// historyTable returns a table with a column for each metric in named. If named is empty, it has a column for each
// measured metric of historyShown.
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
