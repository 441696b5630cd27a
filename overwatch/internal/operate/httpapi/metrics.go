package httpapi

import (
	"math"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/operate/figures"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/shared/api"
)

func metricsOperations() []Operation {
	times := api.ResponseTimes{AvgMS: 0.021, P50MS: 0.018, P95MS: 0.044, P99MS: 0.072, MaxMS: 0.576}
	memory, cpu := api.MemoryUse{UsedBytes: new(uint64(62_914_560)), AvailableBytes: new(uint64(6_442_450_944)),
		TotalBytes: new(uint64(8_589_934_592)), Percent: 0.732422}, api.CPUUse{UsedPercent: 3.5, Cores: 2}
	return []Operation{
		{Method: get, Path: v1 + "/metrics/overview", handle: (*Server).getOverview, Query: none,
			Summary:     "Get current metrics of the node",
			Description: "Rates, shares and response times are of the last minute.", Status: 200,
			Answer: api.OverviewAnswer{Overview: api.Overview{
				Timestamp: exampleTime(), UptimeSeconds: 86400, QueriesTotal: 8_640_000, QueriesPerSec: 100,
				HealthChecksTotal:  11520,
				HealthChecksPerSec: 0.133333,
				ActiveDomains:      1, ActiveServers: 3, HealthyServers: 3, UnhealthyServers: 1, ActiveRegions: 2,
				OverwatchNodes: 1,
				AgentNodes:     2, DNSSECEnabled: true, GossipEnabled: true,
				ResponseTimes: times, Memory: memory, CPU: cpu,
			}}},
		{Method: get, Path: v1 + "/metrics/history", handle: (*Server).getHistory,
			Summary: "Get the history of the metrics of the node",
			Description: "Minutes of the last day and hours of the last thirty days, also from before a restart. " +
				"Of five minutes the percentiles are the highest of their minutes, the rest is their mean. Without " +
				"duration and " +
				"start_time, the last hour.", Status: 200,
			Query: []Parameter{text("duration", "up to now, such as 1h; at most 720h", "1h"),
				moment("start_time", "not with duration"), moment("end_time", "default: now"),
				list("metrics", "these, with commas; default: all", history.Names(), "queries_per_sec,response_p99_ms"),
				word("resolution", "default: 1m up to six hours, 5m up to a day, else 1h", []string{"1m", "5m", "1h"})},
			Answer: api.History{DataPoints: []api.HistoryPoint{
				{Timestamp: exampleTime(), Values: map[string]float64{"queries_per_sec": 100, "response_p99_ms": 0.072}}},
				Total:       1,
				GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/metrics/nodes/{id}", handle: (*Server).getNodeMetrics, Query: none,
			Summary: "Get current metrics of a node or agent", Status: 200,
			Answer: api.NodeMetricsAnswer{Metrics: api.NodeMetrics{
				NodeID: "overwatch-1", NodeType: api.NodeOverwatch, Timestamp: exampleTime(), Status: "online",
				UptimeSeconds: 86400,
				QueriesTotal:  8_640_000, QueriesPerSec: 100,
				ChecksTotal: 11520, ChecksPerSec: 0.133333, ResponseTimes: times, Memory: memory, CPU: cpu,
			}}},
		{Method: get, Path: v1 + "/metrics/regions/{id}", handle: (*Server).getRegionMetrics, Query: none,
			Summary: "Get current metrics of a region",
			Status:  200, Answer: api.RegionMetricsAnswer{Metrics: api.RegionMetrics{
				RegionID: "eu-west", Timestamp: exampleTime(), TotalServers: 4, HealthyServers: 3,
				QueriesTotal:   new(uint64(4_320_000)),
				QueriesPerSec:  new(50.0),
				ResponseTimes:  api.ResponseTimes{AvgMS: 1.8, P50MS: 1.75, P95MS: 2.25, P99MS: 2.25, MaxMS: 2.25},
				ErrorRate:      0.25,
				TrafficPercent: new(50.0),
			}}},
		{Method: get, Path: v1 + "/metrics/routing", handle: (*Server).getRoutingMetrics, Query: none,
			Summary: "Count answers of domains since the start", Status: 200,
			Answer: api.RoutingStatsAnswer{Stats: api.RoutingStats{
				Timestamp: exampleTime(), TotalDecisions: 8_640_000, ByAlgorithm: map[string]uint64{"geolocation": 8_640_000},
				ByRegion: map[string]uint64{"eu-west": 8_640_000},
				ByOutcome: map[api.RoutingDecisionKind]uint64{api.RoutingSuccess: 8_600_000,
					api.RoutingFailover: 40_000},
				GeoRoutingHits: 8_600_000, FailoverEvents: 40_000, AvgDecisionTimeUS: 0.4,
			}}},
	}
}

// defaultHistory is the length of GET /metrics/history without parameters.
const defaultHistory = time.Hour

// getHistory answers GET /metrics/history.
func (s *Server) getHistory(c *call) (answer, error) {
	now := s.o.Now()
	from, to, err := c.query.timeRange(now)
	if err != nil {
		return answer{}, err
	}
	resolution := c.query.resolution(to.Sub(from))
	names := history.Names()
	wanted := c.query.list("metrics")
	list := api.History{DataPoints: []api.HistoryPoint{}, GeneratedAt: stamp(now)}
	for _, p := range s.o.History.Points(from, to, resolution) {
		point := api.HistoryPoint{Timestamp: stamp(p.At), Values: map[string]float64{}}
		for i, name := range names {
			if v := p.Values[i]; !math.IsNaN(v) && (len(wanted) == 0 || slices.Contains(wanted, name)) {
				point.Values[name] = figures.Rounded(v)
			}
		}
		list.DataPoints = append(list.DataPoints, point)
	}
	list.Total = len(list.DataPoints)
	return ok(list), nil
}

// timeRange returns the start and end of the history: start_time and end_time, or a duration before end_time.
func (p params) timeRange(now time.Time) (from, to time.Time, err error) {
	const longest = history.Hours * time.Hour
	from, to = p.moment("start_time"), p.moment("end_time")
	if to.IsZero() {
		to = now
	}
	text, given := p["duration"]
	switch {
	case given && !from.IsZero():
		return from, to, badRequest("duration and start_time both say where to begin: give one of them")
	case !given && from.IsZero():
		return to.Add(-defaultHistory), to, nil
	case given:
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > longest {
			return from, to, badRequest("duration is %.64q: it must be above zero and at most %s, such as 1h", text,
				longest)
		}
		return to.Add(-d), to, nil
	case !from.Before(to):
		return from, to, badRequest("start_time is not before end_time")
	}
	return from, to, nil
}

// resolution returns the requested length of a point, or a default for the length of the history.
func (p params) resolution(length time.Duration) time.Duration {
	switch word := p["resolution"]; {
	case word == "1m", word == "" && length <= 6*time.Hour:
		return time.Minute
	case word == "5m", word == "" && length <= history.Minutes*time.Minute:
		return 5 * time.Minute
	}
	return time.Hour
}

// getNodeMetrics answers GET /metrics/nodes/{id} with the metrics of this node, or the metrics that an agent reported.
func (s *Server) getNodeMetrics(c *call) (answer, error) {
	id := c.Param("id")
	if id == s.o.NodeID {
		return ok(api.NodeMetricsAnswer{Metrics: s.figures.Own()}), nil
	}
	if state, heard := s.o.View.Agent(id); heard {
		return ok(api.NodeMetricsAnswer{Metrics: s.figures.Agent(state)}), nil
	}
	if slices.ContainsFunc(s.o.Members(), func(m gossip.Member) bool { return m.Name == id }) {
		return answer{}, notFound("%.260q is another overwatch node: request its metrics from its own API", id)
	}
	return answer{}, notFound("node %.260q has not reported metrics to this node", id)
}

// getOverview answers GET /metrics/overview.
func (s *Server) getOverview(*call) (answer, error) {
	return ok(api.OverviewAnswer{Overview: s.figures.Overview()}), nil
}

// getRegionMetrics answers GET /metrics/regions/{id}.
func (s *Server) getRegionMetrics(c *call) (answer, error) {
	m, found := s.figures.Region(s.regionNames().Of(c.Param("id")))
	if !found {
		return answer{}, notFound("no region %.64q is configured", m.RegionID)
	}
	return ok(api.RegionMetricsAnswer{Metrics: m}), nil
}

// getRoutingMetrics answers GET /metrics/routing.
func (s *Server) getRoutingMetrics(*call) (answer, error) {
	return ok(api.RoutingStatsAnswer{Stats: s.figures.Routing()}), nil
}

// getStats answers GET /overwatch/stats.
func (s *Server) getStats(*call) (answer, error) { return ok(s.figures.Backends()), nil }
