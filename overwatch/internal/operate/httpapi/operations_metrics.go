package httpapi

import (
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/shared/api"
)

func metricsOperations() []Operation {
	times := api.ResponseTimes{AvgMS: 0.021, P50MS: 0.018, P95MS: 0.044, P99MS: 0.072, MaxMS: 0.576}
	memory, cpu := api.MemoryUse{UsedBytes: new(uint64(62_914_560)), AvailableBytes: new(uint64(6_442_450_944)),
		TotalBytes: new(uint64(8_589_934_592)), Percent: 0.732422}, api.CPUUse{UsedPercent: 3.5, Cores: 2}
	return []Operation{
		{Method: get, Path: v1 + "/metrics/overview", handle: (*Server).getOverview, Query: none,
			Summary:     "What the node does now",
			Description: "Rates, shares and response times are of the last minute.", Status: 200,
			Answer: api.OverviewAnswer{Overview: api.Overview{
				Timestamp: at(), UptimeSeconds: 86400, QueriesTotal: 8_640_000, QueriesPerSec: 100, HealthChecksTotal: 11520,
				HealthChecksPerSec: 0.133333,
				ActiveDomains:      1, ActiveServers: 3, HealthyServers: 3, UnhealthyServers: 1, ActiveRegions: 2,
				OverwatchNodes: 1,
				AgentNodes:     2, DNSSECEnabled: true, GossipEnabled: true,
				ResponseTimes: times, Memory: memory, CPU: cpu,
			}}},
		{Method: get, Path: v1 + "/metrics/history", handle: (*Server).getHistory, Summary: "What the node did",
			Description: "Minutes of the last day and hours of the last thirty days, also from before a restart. " +
				"Of five minutes the percentiles are the highest of their minutes, the rest is their mean. Without duration and " +
				"start_time, the last hour.", Status: 200,
			Query: []Parameter{text("duration", "up to now, such as 1h; at most 720h", "1h"),
				moment("start_time", "not with duration"), moment("end_time", "default: now"),
				list("metrics", "these, with commas; default: all", history.Names(), "queries_per_sec,response_p99_ms"),
				word("resolution", "default: 1m up to six hours, 5m up to a day, else 1h", []string{"1m", "5m", "1h"})},
			Answer: api.History{DataPoints: []api.HistoryPoint{
				{Timestamp: at(), Values: map[string]float64{"queries_per_sec": 100, "response_p99_ms": 0.072}}}, Total: 1,
				GeneratedAt: at()}},
		{Method: get, Path: v1 + "/metrics/nodes/{id}", handle: (*Server).getNodeMetrics, Query: none,
			Summary: "What this node or an agent does", Status: 200, Answer: api.NodeMetricsAnswer{Metrics: api.NodeMetrics{
				NodeID: "overwatch-1", NodeType: api.NodeOverwatch, Timestamp: at(), Status: "online", UptimeSeconds: 86400,
				QueriesTotal: 8_640_000, QueriesPerSec: 100,
				ChecksTotal: 11520, ChecksPerSec: 0.133333, ResponseTimes: times, Memory: memory, CPU: cpu,
			}}},
		{Method: get, Path: v1 + "/metrics/regions/{id}", handle: (*Server).getRegionMetrics, Query: none,
			Summary: "What a region does",
			Status:  200, Answer: api.RegionMetricsAnswer{Metrics: api.RegionMetrics{
				RegionID: "eu-west", Timestamp: at(), TotalServers: 4, HealthyServers: 3, QueriesTotal: new(uint64(4_320_000)),
				QueriesPerSec: new(50.0),
				ResponseTimes: api.ResponseTimes{AvgMS: 1.8, P50MS: 1.75, P95MS: 2.25, P99MS: 2.25, MaxMS: 2.25}, ErrorRate: 0.25,
				TrafficPercent: new(50.0),
			}}},
		{Method: get, Path: v1 + "/metrics/routing", handle: (*Server).getRoutingMetrics, Query: none,
			Summary: "Counts of the steered answers since the start", Status: 200,
			Answer: api.RoutingStatsAnswer{Stats: api.RoutingStats{
				Timestamp: at(), TotalDecisions: 8_640_000, ByAlgorithm: map[string]uint64{"geolocation": 8_640_000},
				ByRegion:       map[string]uint64{"eu-west": 8_640_000},
				ByOutcome:      map[api.RoutingDecisionKind]uint64{api.RoutingSuccess: 8_600_000, api.RoutingFailover: 40_000},
				GeoRoutingHits: 8_600_000, FailoverEvents: 40_000, AvgDecisionTimeUS: 0.4,
			}}},
	}
}
