package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
)

// Rules that merge the metrics of several nodes. The cluster value is the sum of the metrics in summed, the minimum of
// the metrics in least, and the weighted mean of the metrics in weighted. For all other metrics it is the maximum: the
// worst time, or the worst view of shared state, such as the number of unhealthy servers.
var (
	summed = []string{"queries_total", "queries_per_sec", "health_checks_total", "health_checks_per_sec",
		"checks_total",
		"checks_per_sec", "total_decisions", "geo_routing_hits", "failover_events", "used_bytes", "available_bytes",
		"total_bytes", "cores", "memory_used_bytes"}
	least = []string{"uptime_seconds", "healthy_servers", "active_servers", "active_regions"}
	// weighted maps a metric to the metric that is its weight in the mean.
	weighted = map[string]string{"error_rate": "queries_per_sec", "response_avg_ms": "queries_per_sec",
		"avg_decision_time_us": "total_decisions", "traffic_percent": "queries_total"}
)

// joinNumbers merges the values of the metric name from several nodes with the rules above. At least one node must have
// the metric.
func joinNumbers(name string, of []map[string]float64) float64 {
	var have []float64
	var weights []float64
	for _, values := range of {
		if value, there := values[name]; there {
			have = append(have, value)
			weights = append(weights, values[weighted[name]])
		}
	}
	switch {
	case slices.Contains(summed, name):
		return total(have)
	case slices.Contains(least, name):
		return slices.Min(have)
	case weighted[name] != "" && total(weights) > 0:
		mean := 0.0
		for i, value := range have {
			mean += value * weights[i] / total(weights)
		}
		return mean
	}
	return slices.Max(have)
}

func total(list []float64) (sum float64) {
	for _, x := range list {
		sum += x
	}
	return sum
}

// clusterFigures has the metrics of several nodes about one object, such as a region.
type clusterFigures struct {
	name  string           // field name of the object in each answer
	all   map[string]any   // merged metrics of all nodes
	each  []map[string]any // metrics of each node of nodes; nil if the node lacks them
	nodes []fleet.Asked
}

// joinFigures merges the answers of all nodes. Each answer contains one metrics object.
func joinFigures[T any](g fleet.Gathered[T]) (clusterFigures, error) {
	c := clusterFigures{nodes: g.Nodes, each: make([]map[string]any, len(g.Nodes))}
	var have []map[string]any
	for _, r := range g.Answers {
		name, fields, err := objectIn(r.Value)
		if err != nil {
			return c, err
		}
		c.name = name
		have = append(have, fields)
		c.each[slices.IndexFunc(g.Nodes, func(n fleet.Asked) bool { return n.Node == r.Node })] = fields
	}
	c.all = have[0]
	if len(have) > 1 {
		c.all = joinObjects("", have)
	}
	return c, nil
}

// objectIn returns the only object in an answer, and its field name.
func objectIn(answer any) (name string, fields map[string]any, err error) {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return "", nil, err
	}
	var wrapped map[string]map[string]any
	dec := json.NewDecoder(bytes.NewReader(encoded))
	dec.UseNumber() // counts stay whole
	if err := dec.Decode(&wrapped); err != nil {
		return "", nil, err
	}
	for name, fields = range wrapped {
		return name, fields, nil
	}
	return "", nil, nil
}

// joinObjects merges objects of the same kind field by field. under is the field name of the objects.
func joinObjects(under string, objects []map[string]any) map[string]any {
	joined := map[string]any{}
	numbers := make([]map[string]float64, len(objects))
	for i, o := range objects {
		numbers[i] = map[string]float64{}
		for name, value := range o {
			if n, isNumber := value.(json.Number); isNumber {
				numbers[i][name], _ = n.Float64()
			}
		}
	}
	for _, o := range objects {
		for name := range o {
			if _, done := joined[name]; !done {
				joined[name] = joinField(under, name, objects, numbers)
			}
		}
	}
	return joined
}

func joinField(under, name string, objects []map[string]any, numbers []map[string]float64) any {
	var values []any // the non-null values
	var inner []map[string]any
	for _, o := range objects {
		if value := o[name]; value != nil {
			values = append(values, value)
		}
		if object, is := o[name].(map[string]any); is {
			inner = append(inner, object)
		}
	}
	if len(values) == 0 {
		return nil
	}
	switch first := values[0].(type) {
	case map[string]any:
		return joinObjects(name, inner)
	case json.Number:
		n := joinNumbers(name, numbers)
		if strings.HasPrefix(under, "by_") {
			n = 0
			for _, o := range numbers {
				n += o[name]
			}
		}
		return json.Number(strconv.FormatFloat(n, 'f', -1, 64))
	case bool:
		return !slices.Contains(values, any(false))
	case string:
		for _, value := range values { // the latest timestamp
			if text, _ := value.(string); text > first && name == "timestamp" {
				first = text
			}
		}
		return first
	}
	return values[0]
}

// output returns the value that -o json and -o yaml print: the joined metrics, and the metrics of each node.
func (c *clusterFigures) output() any {
	nodes := []map[string]any{}
	for i, n := range c.nodes {
		one := map[string]any{"node": n.Node}
		if n.Error != "" {
			one["error"] = n.Error
		} else {
			one[c.name] = c.each[i]
		}
		nodes = append(nodes, one)
	}
	return map[string]any{c.name: c.all, "nodes": nodes}
}

// table returns a table with a row for each metric, and a column for each node. With several nodes, it has a column for
// the cluster.
func (c *clusterFigures) table() *render.Table {
	if len(c.nodes) == 1 {
		return fieldTable(c.all)
	}
	t := &render.Table{Columns: []render.Column{{Name: "FIGURE"}}}
	for _, n := range c.nodes {
		t.Columns = append(t.Columns, render.Column{Name: n.Node, Right: true})
	}
	t.Columns = append(t.Columns, render.Column{Name: "ALL", Right: true})
	all := flat(c.all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row := []render.Cell{render.C(name)}
		for _, fields := range append(slices.Clone(c.each), c.all) {
			value, there := flat(fields)[name]
			if !there {
				row = append(row, render.C(render.None))
				continue
			}
			row = append(row, orNone(figureText(name, value)))
		}
		t.Add(row...)
	}
	return t
}
