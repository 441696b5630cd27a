package api

import (
	"context"
	"net/url"
	"strings"
	"time"
)

// ResponseTimes summarizes durations, in milliseconds. All fields are 0 without a measurement.
type ResponseTimes struct {
	AvgMS float64 `json:"avg_ms"`
	P50MS float64 `json:"p50_ms"` // error at most one eighth, as in P95MS and P99MS
	P95MS float64 `json:"p95_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

// MemoryUse is the memory of a process and of its machine.
type MemoryUse struct {
	UsedBytes      *uint64 `json:"used_bytes"`      // by the process; null: unknown
	AvailableBytes *uint64 `json:"available_bytes"` // of the machine; null: unknown
	TotalBytes     *uint64 `json:"total_bytes"`     // of the machine; null: unknown
	Percent        float64 `json:"percent"`         // a node: used of total; an agent: use of its machine or container
}

// CPUUse is the use of processor time.
type CPUUse struct {
	// of all cores; a node: by its process; an agent: of its machine or container
	UsedPercent float64 `json:"used_percent"`
	Cores       int     `json:"cores"` // 0: unknown
}

// Overview is the node's current activity. Rates, shares and response times are of the last minute.
type Overview struct {
	Timestamp          time.Time     `json:"timestamp"`
	UptimeSeconds      int64         `json:"uptime_seconds"`
	QueriesTotal       uint64        `json:"queries_total"` // since the start
	QueriesPerSec      float64       `json:"queries_per_sec"`
	HealthChecksTotal  uint64        `json:"health_checks_total"` // the node's own checks since its start
	HealthChecksPerSec float64       `json:"health_checks_per_sec"`
	ActiveDomains      int           `json:"active_domains"`
	ActiveServers      int           `json:"active_servers"` // servers that may serve
	HealthyServers     int           `json:"healthy_servers"`
	UnhealthyServers   int           `json:"unhealthy_servers"`
	StaleServers       int           `json:"stale_servers"`
	ActiveRegions      int           `json:"active_regions"` // with a server that may serve
	OverwatchNodes     int           `json:"overwatch_nodes"`
	AgentNodes         int           `json:"agent_nodes"` // agents that send heartbeats
	DNSSECEnabled      bool          `json:"dnssec_enabled"`
	GossipEnabled      bool          `json:"gossip_enabled"`
	ResponseTimes      ResponseTimes `json:"response_times"` // from reading a query to passing the answer to the kernel
	ErrorRate          float64       `json:"error_rate"`     // fraction of queries answered with SERVFAIL, 0 to 1
	Memory             MemoryUse     `json:"memory"`
	CPU                CPUUse        `json:"cpu"`
}

// OverviewAnswer is the answer of GET /api/v1/metrics/overview.
type OverviewAnswer struct {
	Overview Overview `json:"overview"`
}

// HistoryPoint holds the measurements of the period that ends at Timestamp. Values omits metrics without a measurement.
type HistoryPoint struct {
	Timestamp time.Time          `json:"timestamp"`
	Values    map[string]float64 `json:"values"`
}

// History is the answer of GET /api/v1/metrics/history, the oldest point first.
type History struct {
	DataPoints  []HistoryPoint `json:"data_points"`
	Total       int            `json:"total"`
	GeneratedAt time.Time      `json:"generated_at"`
}

// NodeType is the program that a node runs.
type NodeType string

// The types of nodes.
const (
	NodeOverwatch NodeType = "overwatch"
	NodeAgent     NodeType = "agent"
)

// NodeMetrics is the activity of a node: this one, or an agent as it reports itself.
type NodeMetrics struct {
	NodeID        string    `json:"node_id"`
	NodeType      NodeType  `json:"node_type"`
	Timestamp     time.Time `json:"timestamp"` // of an agent: time of its report
	Status        string    `json:"status"`    // online, offline or degraded
	UptimeSeconds int64     `json:"uptime_seconds"`
	QueriesTotal  uint64    `json:"queries_total"` // 0 for an agent
	QueriesPerSec float64   `json:"queries_per_sec"`
	ChecksTotal   uint64    `json:"checks_total"`
	ChecksPerSec  float64   `json:"checks_per_sec"` // an agent: mean since its start
	// a node: of DNS answers; an agent: of the last check of each backend
	ResponseTimes ResponseTimes `json:"response_times"`
	ErrorRate     float64       `json:"error_rate"` // a node: of DNS answers; an agent: of its checks; 0 to 1
	Memory        MemoryUse     `json:"memory"`
	CPU           CPUUse        `json:"cpu"`
}

// NodeMetricsAnswer is the answer of GET /api/v1/metrics/nodes/{id}.
type NodeMetricsAnswer struct {
	Metrics NodeMetrics `json:"metrics"`
}

// RegionMetrics is the activity of a region. Response times and error rate are of this node's
// last check of each server.
type RegionMetrics struct {
	RegionID       string    `json:"region_id"`
	Timestamp      time.Time `json:"timestamp"`
	TotalServers   int       `json:"total_servers"`
	HealthyServers int       `json:"healthy_servers"`
	// The number of load-balanced answers with a server of the region since the start; null: not counted.
	QueriesTotal  *uint64       `json:"queries_total"`
	QueriesPerSec *float64      `json:"queries_per_sec"` // in the last minute; null: not counted
	ResponseTimes ResponseTimes `json:"response_times"`
	ErrorRate     float64       `json:"error_rate"` // fraction of its servers with a failed last check, 0 to 1
	// The percentage of load-balanced answers with a server of the region since the start; null: no answers.
	TrafficPercent *float64 `json:"traffic_percent"`
}

// RegionMetricsAnswer is the answer of GET /api/v1/metrics/regions/{id}.
type RegionMetricsAnswer struct {
	Metrics RegionMetrics `json:"metrics"`
}

// RoutingStats counts load-balanced answers since the start.
type RoutingStats struct {
	Timestamp      time.Time                      `json:"timestamp"`
	TotalDecisions uint64                         `json:"total_decisions"`
	ByAlgorithm    map[string]uint64              `json:"by_algorithm"` // the algorithm that selected the backends
	ByRegion       map[string]uint64              `json:"by_region"`    // of the selected backend; "" without a region
	ByOutcome      map[RoutingDecisionKind]uint64 `json:"by_outcome"`
	// The number of answers to clients in a region that depended on the client location.
	GeoRoutingHits uint64 `json:"geo_routing_hits"`
	// The number of answers from a region other than the first region or the client's region.
	FailoverEvents    uint64  `json:"failover_events"`
	AvgDecisionTimeUS float64 `json:"avg_decision_time_us"`
}

// RoutingStatsAnswer is the answer of GET /api/v1/metrics/routing.
type RoutingStatsAnswer struct {
	Stats RoutingStats `json:"stats"`
}

// DomainMetrics is the activity of a domain on this node: its load-balanced answers.
type DomainMetrics struct {
	Domain string `json:"domain"`
	// Answers per second, and the fraction of them with SERVFAIL, 0 to 1, since the begin of the previous minute.
	QueriesPerSec float64 `json:"queries_per_sec"`
	ErrorRate     float64 `json:"error_rate"`
	// The 99th percentile of the time to make an answer, of sampled answers of the last hour; null: no sample. It is a
	// part of the response time, which a node measures for batches of queries for any names.
	AnswerP99MS *float64 `json:"answer_p99_ms"`
	Samples     int      `json:"samples"` // number of sampled answers, at most 128
	// Answers per second of each of the last 59 complete minutes, oldest first. Minutes before the start are 0.
	History []float64 `json:"history"`
}

// DomainMetricsList is the answer of GET /api/v1/metrics/domains.
type DomainMetricsList struct {
	Domains     []DomainMetrics `json:"domains"`
	Total       int             `json:"total"`
	GeneratedAt time.Time       `json:"generated_at"`
}

// Overview returns the node's current activity.
func (c *Client) Overview(ctx context.Context) (OverviewAnswer, error) {
	return get[OverviewAnswer](ctx, c, "/api/v1/metrics/overview", nil)
}

// History returns the node's past activity, as the query narrows it.
func (c *Client) History(ctx context.Context, query url.Values) (History, error) {
	return get[History](ctx, c, "/api/v1/metrics/history", query)
}

// NodeMetrics returns the activity of this node or of an agent.
func (c *Client) NodeMetrics(ctx context.Context, id string) (NodeMetricsAnswer, error) {
	return get[NodeMetricsAnswer](ctx, c, "/api/v1/metrics/nodes", nil, id)
}

// RegionMetrics returns the activity of a region.
func (c *Client) RegionMetrics(ctx context.Context, id string) (RegionMetricsAnswer, error) {
	return get[RegionMetricsAnswer](ctx, c, "/api/v1/metrics/regions", nil, id)
}

// RoutingMetrics returns the counts of load-balanced answers.
func (c *Client) RoutingMetrics(ctx context.Context) (RoutingStatsAnswer, error) {
	return get[RoutingStatsAnswer](ctx, c, "/api/v1/metrics/routing", nil)
}

// DomainMetrics returns the activity of domains with an answer in the last hour, or of the named domains.
func (c *Client) DomainMetrics(ctx context.Context, domains ...string) (DomainMetricsList, error) {
	query := url.Values{}
	if len(domains) > 0 {
		query.Set("names", strings.Join(domains, ","))
	}
	return everyPage(ctx, c, "/api/v1/metrics/domains", query,
		func(l *DomainMetricsList) (*[]DomainMetrics, int) { return &l.Domains, l.Total })
}
