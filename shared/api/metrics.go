package api

import (
	"context"
	"net/url"
	"time"
)

// ResponseTimes sums up durations, in milliseconds. All are 0 where nothing
// was measured.
type ResponseTimes struct {
	AvgMS float64 `json:"avg_ms"`
	P50MS float64 `json:"p50_ms"` // exact to an eighth, as are those below
	P95MS float64 `json:"p95_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

// MemoryUse is the memory of a process and of its machine.
type MemoryUse struct {
	UsedBytes      *uint64 `json:"used_bytes"`      // by the process; null: not told
	AvailableBytes *uint64 `json:"available_bytes"` // of the machine; null: not told
	TotalBytes     *uint64 `json:"total_bytes"`     // of the machine; null: not told
	Percent        float64 `json:"percent"`         // a node: used of total; an agent: how full its machine or container is
}

// CPUUse is the processor time that is used.
type CPUUse struct {
	UsedPercent float64 `json:"used_percent"` // of all cores; a node: by its process; an agent: of its machine or container
	Cores       int     `json:"cores"`        // 0: not told
}

// Overview is what a node does now. Rates, shares and response times are of
// the last minute.
type Overview struct {
	Timestamp          time.Time     `json:"timestamp"`
	UptimeSeconds      int64         `json:"uptime_seconds"`
	QueriesTotal       uint64        `json:"queries_total"` // since the start
	QueriesPerSec      float64       `json:"queries_per_sec"`
	HealthChecksTotal  uint64        `json:"health_checks_total"` // the node's own, since the start
	HealthChecksPerSec float64       `json:"health_checks_per_sec"`
	ActiveDomains      int           `json:"active_domains"`
	ActiveServers      int           `json:"active_servers"` // those that may serve
	HealthyServers     int           `json:"healthy_servers"`
	UnhealthyServers   int           `json:"unhealthy_servers"`
	StaleServers       int           `json:"stale_servers"`
	ActiveRegions      int           `json:"active_regions"` // with a server that may serve
	OverwatchNodes     int           `json:"overwatch_nodes"`
	AgentNodes         int           `json:"agent_nodes"` // whose heartbeats arrive
	DNSSECEnabled      bool          `json:"dnssec_enabled"`
	GossipEnabled      bool          `json:"gossip_enabled"`
	ResponseTimes      ResponseTimes `json:"response_times"` // from reading a query to giving its answer to the kernel
	ErrorRate          float64       `json:"error_rate"`     // part of the queries that was answered SERVFAIL, 0 to 1
	Memory             MemoryUse     `json:"memory"`
	CPU                CPUUse        `json:"cpu"`
}

// OverviewAnswer is the answer of GET /api/v1/metrics/overview.
type OverviewAnswer struct {
	Overview Overview `json:"overview"`
}

// HistoryPoint is what was measured in the time that ends at Timestamp. A
// metric that was not measured then is not in Values.
type HistoryPoint struct {
	Timestamp time.Time          `json:"timestamp"`
	Values    map[string]float64 `json:"values"`
}

// History is the answer of GET /api/v1/metrics/history, the oldest first.
type History struct {
	DataPoints  []HistoryPoint `json:"data_points"`
	Total       int            `json:"total"`
	GeneratedAt time.Time      `json:"generated_at"`
}

// NodeType says which program a node runs.
type NodeType string

// The types of nodes.
const (
	NodeOverwatch NodeType = "overwatch"
	NodeAgent     NodeType = "agent"
)

// NodeMetrics is what one node does: this one, or an agent by its own words.
type NodeMetrics struct {
	NodeID        string        `json:"node_id"`
	NodeType      NodeType      `json:"node_type"`
	Timestamp     time.Time     `json:"timestamp"` // an agent: when it said so
	Status        string        `json:"status"`    // online, offline or degraded
	UptimeSeconds int64         `json:"uptime_seconds"`
	QueriesTotal  uint64        `json:"queries_total"` // an agent answers none
	QueriesPerSec float64       `json:"queries_per_sec"`
	ChecksTotal   uint64        `json:"checks_total"`
	ChecksPerSec  float64       `json:"checks_per_sec"` // an agent: mean since its start
	ResponseTimes ResponseTimes `json:"response_times"` // a node: of DNS answers; an agent: of the last check of each backend
	ErrorRate     float64       `json:"error_rate"`     // a node: of DNS answers; an agent: the part of its checks that failed, 0 to 1
	Memory        MemoryUse     `json:"memory"`
	CPU           CPUUse        `json:"cpu"`
}

// NodeMetricsAnswer is the answer of GET /api/v1/metrics/nodes/{id}.
type NodeMetricsAnswer struct {
	Metrics NodeMetrics `json:"metrics"`
}

// RegionMetrics is what one region does. Its response times and its error
// rate are those of this node's checks of its servers, the last one of each.
type RegionMetrics struct {
	RegionID       string        `json:"region_id"`
	Timestamp      time.Time     `json:"timestamp"`
	TotalServers   int           `json:"total_servers"`
	HealthyServers int           `json:"healthy_servers"`
	QueriesTotal   *uint64       `json:"queries_total"`   // steered answers that led to a server of the region, since the start; null: not counted
	QueriesPerSec  *float64      `json:"queries_per_sec"` // in the last minute; null: not counted
	ResponseTimes  ResponseTimes `json:"response_times"`
	ErrorRate      float64       `json:"error_rate"`      // part of its checked servers whose last check failed, 0 to 1
	TrafficPercent *float64      `json:"traffic_percent"` // of all steered answers since the start that led to a server; null: there are none
}

// RegionMetricsAnswer is the answer of GET /api/v1/metrics/regions/{id}.
type RegionMetricsAnswer struct {
	Metrics RegionMetrics `json:"metrics"`
}

// RoutingStats counts steered answers since the start.
type RoutingStats struct {
	Timestamp         time.Time                      `json:"timestamp"`
	TotalDecisions    uint64                         `json:"total_decisions"`
	ByAlgorithm       map[string]uint64              `json:"by_algorithm"` // the one that chose
	ByRegion          map[string]uint64              `json:"by_region"`    // of the server that answered; "" for none
	ByOutcome         map[RoutingDecisionKind]uint64 `json:"by_outcome"`
	GeoRoutingHits    uint64                         `json:"geo_routing_hits"` // answers that depended on where the client is, to clients in a region
	FailoverEvents    uint64                         `json:"failover_events"`  // answers from a region other than the first, or than the client's
	AvgDecisionTimeUS float64                        `json:"avg_decision_time_us"`
}

// RoutingStatsAnswer is the answer of GET /api/v1/metrics/routing.
type RoutingStatsAnswer struct {
	Stats RoutingStats `json:"stats"`
}

// Overview shows what the node does now.
func (c *Client) Overview(ctx context.Context) (OverviewAnswer, error) {
	return get[OverviewAnswer](ctx, c, "/api/v1/metrics/overview", nil)
}

// History lists what the node did, as the query narrows it.
func (c *Client) History(ctx context.Context, query url.Values) (History, error) {
	return get[History](ctx, c, "/api/v1/metrics/history", query)
}

// NodeMetrics shows what this node or an agent does.
func (c *Client) NodeMetrics(ctx context.Context, id string) (NodeMetricsAnswer, error) {
	p, err := under("/api/v1/metrics/nodes", id)
	if err != nil {
		return NodeMetricsAnswer{}, err
	}
	return get[NodeMetricsAnswer](ctx, c, p, nil)
}

// RegionMetrics shows what a region does.
func (c *Client) RegionMetrics(ctx context.Context, id string) (RegionMetricsAnswer, error) {
	p, err := under("/api/v1/metrics/regions", id)
	if err != nil {
		return RegionMetricsAnswer{}, err
	}
	return get[RegionMetricsAnswer](ctx, c, p, nil)
}

// RoutingMetrics counts steered answers.
func (c *Client) RoutingMetrics(ctx context.Context) (RoutingStatsAnswer, error) {
	return get[RoutingStatsAnswer](ctx, c, "/api/v1/metrics/routing", nil)
}
