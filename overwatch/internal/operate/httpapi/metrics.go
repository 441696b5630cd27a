package httpapi

import (
	"math"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/leaf/histogram"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// getOverview answers GET /metrics/overview.
func (s *Server) getOverview(c *call) (answer, error) {
	span := s.o.History.Now()
	now := &span.To
	o := api.Overview{
		Timestamp: stamp(now.At), UptimeSeconds: int64(s.o.Now().Sub(s.o.StartedAt).Seconds()),
		QueriesTotal: now.Queries, QueriesPerSec: rounded(span.QueriesPerSec()), HealthChecksTotal: now.Checks,
		HealthChecksPerSec: rounded(span.ChecksPerSec()),
		ActiveDomains:      now.Domains, HealthyServers: now.Healthy, UnhealthyServers: now.Unhealthy,
		StaleServers:   now.Stale,
		AgentNodes:     now.Agents,
		OverwatchNodes: len(s.o.Members()), DNSSECEnabled: s.o.SigningKeys != nil, GossipEnabled: true,
		ResponseTimes: responseTimes(span.Times()), ErrorRate: rounded(span.ErrorRate()), Memory: memoryUse(now),
		CPU: cpuUse(&span),
	}
	regions := map[string]bool{}
	for b := range s.o.View.Backends() {
		if b.MayServe {
			o.ActiveServers++
			regions[b.Region] = true
		}
	}
	o.ActiveRegions = len(regions)
	return ok(api.OverviewAnswer{Overview: o}), nil
}

// rounded keeps six digits behind the point.
func rounded(v float64) float64 { return math.Round(v*1e6) / 1e6 }

func responseTimes(h histogram.Snapshot) api.ResponseTimes {
	return api.ResponseTimes{
		AvgMS: milliseconds(h.Mean()), P50MS: milliseconds(h.Quantile(0.5)), P95MS: milliseconds(h.Quantile(0.95)),
		P99MS: milliseconds(h.Quantile(0.99)), MaxMS: milliseconds(h.Quantile(1)),
	}
}

func memoryUse(r *history.Reading) api.MemoryUse {
	return api.MemoryUse{
		UsedBytes: nonZero(r.MemoryUsed), AvailableBytes: nonZero(r.MemoryAvailable), TotalBytes: nonZero(r.MemoryTotal),
		Percent: rounded(r.MemoryPercent()),
	}
}

// nonZero returns nil for 0, which stands for "not known".
func nonZero(n uint64) *uint64 {
	if n == 0 {
		return nil
	}
	return &n
}

func cpuUse(s *history.Span) api.CPUUse {
	return api.CPUUse{UsedPercent: rounded(s.CPUPercent()), Cores: s.To.Cores}
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
				point.Values[name] = rounded(v)
			}
		}
		list.DataPoints = append(list.DataPoints, point)
	}
	list.Total = len(list.DataPoints)
	return ok(list), nil
}

// timeRange returns the ends of the history: start_time and end_time, or a duration up to end_time.
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
			return from, to, badRequest("duration is %.64q: it must be above zero and at most %s, such as 1h", text, longest)
		}
		return to.Add(-d), to, nil
	case !from.Before(to):
		return from, to, badRequest("start_time is not before end_time")
	}
	return from, to, nil
}

// resolution returns the length of a point: the one that is asked for, else one that suits the length of the history.
func (p params) resolution(length time.Duration) time.Duration {
	switch word := p["resolution"]; {
	case word == "1m", word == "" && length <= 6*time.Hour:
		return time.Minute
	case word == "5m", word == "" && length <= history.Minutes*time.Minute:
		return 5 * time.Minute
	}
	return time.Hour
}

// getNodeMetrics answers GET /metrics/nodes/{id}: figures of this node, or those that an agent has reported.
func (s *Server) getNodeMetrics(c *call) (answer, error) {
	id := c.Param("id")
	if id == s.o.NodeID {
		return ok(api.NodeMetricsAnswer{Metrics: s.ownMetrics()}), nil
	}
	if state, heard := s.o.View.Agent(id); heard {
		return ok(api.NodeMetricsAnswer{Metrics: s.agentMetrics(state)}), nil
	}
	if slices.ContainsFunc(s.o.Members(), func(m gossip.Member) bool { return m.Name == id }) {
		return answer{}, notFound("%.260q is another overwatch node, whose figures this one does not have: ask it", id)
	}
	return answer{}, notFound("no node %.260q has told its figures to this one", id)
}

func (s *Server) ownMetrics() api.NodeMetrics {
	span := s.o.History.Now()
	status := "online"
	if s.o.Fitness.Status() != api.ServiceHealthy {
		status = "degraded"
	}
	return api.NodeMetrics{
		NodeID: s.o.NodeID, NodeType: api.NodeOverwatch, Timestamp: stamp(span.To.At), Status: status,
		UptimeSeconds: int64(s.o.Now().Sub(s.o.StartedAt).Seconds()), QueriesTotal: span.To.Queries,
		QueriesPerSec: rounded(span.QueriesPerSec()),
		ChecksTotal:   span.To.Checks, ChecksPerSec: rounded(span.ChecksPerSec()), ResponseTimes: responseTimes(span.Times()),
		ErrorRate: rounded(span.ErrorRate()),
		Memory:    memoryUse(&span.To), CPU: cpuUse(&span),
	}
}

func (s *Server) agentMetrics(a registry.AgentState) api.NodeMetrics {
	m := api.NodeMetrics{
		NodeID: a.ID, NodeType: api.NodeAgent, Timestamp: stamp(a.LastSeen), Status: string(api.AgentOnline),
		UptimeSeconds: int64(a.Uptime.Seconds()),
		ChecksTotal:   a.Figures.ChecksTotal, Memory: api.MemoryUse{Percent: float64(a.Figures.MemoryPercent) / 100},
		CPU: api.CPUUse{UsedPercent: float64(a.Figures.CPUPercent) / 100, Cores: int(a.Figures.Cores)},
	}
	if conditions.AgentStatus(a, s.o.Now()) == api.GossipDead {
		m.Status = string(api.AgentOffline)
	}
	if seconds := a.Uptime.Seconds(); seconds > 0 {
		m.ChecksPerSec = rounded(float64(a.Figures.ChecksTotal) / seconds)
	}
	if a.Figures.ChecksTotal > 0 {
		m.ErrorRate = rounded(min(float64(a.Figures.ChecksFailed)/float64(a.Figures.ChecksTotal), 1))
	}
	var times histogram.Counter
	for b := range s.o.View.Backends() {
		if report := b.Report(); b.AgentID == a.ID && report.Latency > 0 {
			times.Add(report.Latency, 1)
		}
	}
	m.ResponseTimes = timesOf(&times)
	return m
}

func timesOf(c *histogram.Counter) api.ResponseTimes {
	var h histogram.Snapshot
	c.AddTo(&h)
	return responseTimes(h)
}

// getRegionMetrics answers GET /metrics/regions/{id}.
func (s *Server) getRegionMetrics(c *call) (answer, error) {
	id := s.regionNames().Of(c.Param("id"))
	m := api.RegionMetrics{RegionID: id}
	var times histogram.Counter
	checked, failed := 0, 0
	for b := range s.o.View.Backends() {
		if b.Region != id {
			continue
		}
		m.TotalServers++
		if b.IsHealthy() {
			m.HealthyServers++
		}
		if b.Validation.State == check.StateUnknown {
			continue
		}
		checked++
		if b.Validation.Err != "" {
			failed++
		} else {
			times.Add(b.Validation.Latency, 1)
		}
	}
	if cfg, _ := s.o.Config(); m.TotalServers == 0 && objects.CheckRegion(cfg, id) != nil {
		return answer{}, notFound("no region %.64q is configured", id)
	}
	if checked > 0 {
		m.ErrorRate = rounded(float64(failed) / float64(checked))
	}
	span := s.o.History.Now()
	m.Timestamp, m.ResponseTimes = stamp(span.To.At), timesOf(&times)
	if span.To.Regions != nil {
		addTraffic(&m, &span)
	}
	return ok(api.RegionMetricsAnswer{Metrics: m}), nil
}

// addTraffic fills in the number of steered answers that led to the region.
func addTraffic(m *api.RegionMetrics, span *history.Span) {
	total, rate := span.To.Regions[m.RegionID], rounded(span.RegionPerSec(m.RegionID))
	m.QueriesTotal, m.QueriesPerSec = &total, &rate
	var all uint64
	for _, n := range span.To.Regions {
		all += n
	}
	if all > 0 {
		share := rounded(100 * float64(total) / float64(all))
		m.TrafficPercent = &share
	}
}

// getRoutingMetrics answers GET /metrics/routing.
func (s *Server) getRoutingMetrics(c *call) (answer, error) {
	t := s.o.Decisions.Totals()
	stats := api.RoutingStats{
		Timestamp: stamp(s.o.Now()), TotalDecisions: t.Decisions, ByRegion: t.ByRegion, GeoRoutingHits: t.GeoHits,
		FailoverEvents: t.ByOutcome[policy.FailedOver],
		ByAlgorithm:    t.ByAlgorithm, ByOutcome: map[api.RoutingDecisionKind]uint64{},
		AvgDecisionTimeUS: float64(t.Average.Nanoseconds()) / 1000,
	}
	for outcome, n := range t.ByOutcome {
		stats.ByOutcome[api.RoutingDecisionKind(outcome)] = n
	}
	return ok(api.RoutingStatsAnswer{Stats: stats}), nil
}
