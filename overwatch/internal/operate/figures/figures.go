// Package figures computes the figures that the API shows of nodes, regions and routing decisions.
package figures

import (
	"math"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/leaf/histogram"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Sources holds the data sources of the figures. Every field is required.
type Sources struct {
	NodeID    string
	StartedAt time.Time // of the process, with a monotonic reading
	Config    func() (*config.Config, time.Time)
	View      *registry.View
	History   *history.Recorder
	Decisions *decisions.Recorder
	Members   func() []gossip.Member
	Status    func() api.ServiceStatus // of the node
	Signs     bool                     // the node signs answers
	Now       func() time.Time
}

// Overview returns the figures of the whole node.
func (s *Sources) Overview() api.Overview {
	span := s.History.Now()
	now := &span.To
	o := api.Overview{
		Timestamp: api.Stamp(now.At), UptimeSeconds: int64(s.Now().Sub(s.StartedAt).Seconds()),
		QueriesTotal: now.Queries, QueriesPerSec: Rounded(span.QueriesPerSec()), HealthChecksTotal: now.Checks,
		HealthChecksPerSec: Rounded(span.ChecksPerSec()),
		ActiveDomains:      now.Domains, HealthyServers: now.Healthy, UnhealthyServers: now.Unhealthy,
		StaleServers:   now.Stale,
		AgentNodes:     now.Agents,
		OverwatchNodes: len(s.Members()), DNSSECEnabled: s.Signs, GossipEnabled: true,
		ResponseTimes: responseTimes(span.Times()), ErrorRate: Rounded(span.ErrorRate()), Memory: memoryUse(now),
		CPU: cpuUse(&span),
	}
	regions := map[string]bool{}
	for b := range s.View.Backends() {
		if b.MayServe {
			o.ActiveServers++
			regions[b.Region] = true
		}
	}
	o.ActiveRegions = len(regions)
	return o
}

// Rounded rounds to six decimal places.
func Rounded(v float64) float64 { return math.Round(v*1e6) / 1e6 }

func responseTimes(h histogram.Snapshot) api.ResponseTimes {
	return api.ResponseTimes{
		AvgMS: Milliseconds(h.Mean()), P50MS: Milliseconds(h.Quantile(0.5)), P95MS: Milliseconds(h.Quantile(0.95)),
		P99MS: Milliseconds(h.Quantile(0.99)), MaxMS: Milliseconds(h.Quantile(1)),
	}
}

func memoryUse(r *history.Reading) api.MemoryUse {
	return api.MemoryUse{
		UsedBytes: nonZero(r.MemoryUsed), AvailableBytes: nonZero(r.MemoryAvailable),
		TotalBytes: nonZero(r.MemoryTotal),
		Percent:    Rounded(r.MemoryPercent()),
	}
}

// nonZero returns nil for 0, which means unknown.
func nonZero(n uint64) *uint64 {
	if n == 0 {
		return nil
	}
	return &n
}

func cpuUse(s *history.Span) api.CPUUse {
	return api.CPUUse{UsedPercent: Rounded(s.CPUPercent()), Cores: s.To.Cores}
}

// Own returns the figures of this node.
func (s *Sources) Own() api.NodeMetrics {
	span := s.History.Now()
	status := "online"
	if s.Status() != api.ServiceHealthy {
		status = "degraded"
	}
	return api.NodeMetrics{
		NodeID: s.NodeID, NodeType: api.NodeOverwatch, Timestamp: api.Stamp(span.To.At), Status: status,
		UptimeSeconds: int64(s.Now().Sub(s.StartedAt).Seconds()), QueriesTotal: span.To.Queries,
		QueriesPerSec: Rounded(span.QueriesPerSec()),
		ChecksTotal:   span.To.Checks, ChecksPerSec: Rounded(span.ChecksPerSec()),
		ResponseTimes: responseTimes(span.Times()),
		ErrorRate:     Rounded(span.ErrorRate()),
		Memory:        memoryUse(&span.To), CPU: cpuUse(&span),
	}
}

// Agent returns the reported figures of an agent.
func (s *Sources) Agent(a registry.AgentState) api.NodeMetrics {
	m := api.NodeMetrics{
		NodeID: a.ID, NodeType: api.NodeAgent, Timestamp: api.Stamp(a.LastSeen), Status: string(api.AgentOnline),
		UptimeSeconds: int64(a.Uptime.Seconds()),
		ChecksTotal:   a.Figures.ChecksTotal, Memory: api.MemoryUse{Percent: float64(a.Figures.MemoryPercent) / 100},
		CPU: api.CPUUse{UsedPercent: float64(a.Figures.CPUPercent) / 100, Cores: int(a.Figures.Cores)},
	}
	if conditions.AgentStatus(a, s.Now()) == api.GossipDead {
		m.Status = string(api.AgentOffline)
	}
	if seconds := a.Uptime.Seconds(); seconds > 0 {
		m.ChecksPerSec = Rounded(float64(a.Figures.ChecksTotal) / seconds)
	}
	if a.Figures.ChecksTotal > 0 {
		m.ErrorRate = Rounded(min(float64(a.Figures.ChecksFailed)/float64(a.Figures.ChecksTotal), 1))
	}
	var times histogram.Counter
	for b := range s.View.Backends() {
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

// Region returns the figures of a region. found is false for a region that is not configured and has no servers.
func (s *Sources) Region(id string) (m api.RegionMetrics, found bool) {
	m.RegionID = id
	var times histogram.Counter
	checked, failed := 0, 0
	for b := range s.View.Backends() {
		if b.Region != id {
			continue
		}
		m.TotalServers++
		if b.IsHealthy() {
			m.HealthyServers++
		}
		if b.OwnCheck.State == check.StateUnknown {
			continue
		}
		checked++
		if b.OwnCheck.LastError != "" {
			failed++
		} else {
			times.Add(b.OwnCheck.Latency, 1)
		}
	}
	if cfg, _ := s.Config(); m.TotalServers == 0 && objects.CheckRegion(cfg, id) != nil {
		return m, false
	}
	if checked > 0 {
		m.ErrorRate = Rounded(float64(failed) / float64(checked))
	}
	span := s.History.Now()
	m.Timestamp, m.ResponseTimes = api.Stamp(span.To.At), timesOf(&times)
	if span.To.Regions != nil {
		addTraffic(&m, &span)
	}
	return m, true
}

// addTraffic sets the number of load-balanced answers of the region.
func addTraffic(m *api.RegionMetrics, span *history.Span) {
	total, rate := span.To.Regions[m.RegionID], Rounded(span.RegionPerSec(m.RegionID))
	m.QueriesTotal, m.QueriesPerSec = &total, &rate
	var all uint64
	for _, n := range span.To.Regions {
		all += n
	}
	if all > 0 {
		share := Rounded(100 * float64(total) / float64(all))
		m.TrafficPercent = &share
	}
}

// Routing returns the figures of the routing decisions.
func (s *Sources) Routing() api.RoutingStats {
	t := s.Decisions.Totals()
	stats := api.RoutingStats{
		Timestamp: api.Stamp(s.Now()), TotalDecisions: t.Decisions, ByRegion: t.ByRegion, GeoRoutingHits: t.GeoHits,
		FailoverEvents: t.ByOutcome[policy.FailedOver],
		ByAlgorithm:    t.ByAlgorithm, ByOutcome: map[api.RoutingDecisionKind]uint64{},
		AvgDecisionTimeUS: float64(t.Average.Nanoseconds()) / 1000,
	}
	for outcome, n := range t.ByOutcome {
		stats.ByOutcome[api.RoutingDecisionKind(outcome)] = n
	}
	return stats
}

// Domains returns the figures of domains. A domain without answers in the last hour has zeros.
func (s *Sources) Domains(names []string) []api.DomainMetrics {
	series := s.Decisions.Series(names...)
	list := make([]api.DomainMetrics, 0, len(names))
	for _, name := range names {
		list = append(list, s.domain(name, series[name]))
	}
	return list
}

func (s *Sources) domain(name string, series decisions.Series) api.DomainMetrics {
	const last = decisions.SeriesMinutes - 1
	now := s.Now()
	current := now.Sub(now.Truncate(time.Minute)).Seconds()
	seconds := max(min(60+current, now.Sub(s.StartedAt).Seconds()), 1)
	m := api.DomainMetrics{Domain: name, History: make([]float64, last), Samples: len(series.Times)}
	for i := range last {
		m.History[i] = Rounded(float64(series.Answers[i]) / 60)
	}
	answers, failed := series.Answers[last-1]+series.Answers[last], series.Failed[last-1]+series.Failed[last]
	m.QueriesPerSec = Rounded(float64(answers) / seconds)
	if answers > 0 {
		m.ErrorRate = Rounded(float64(failed) / float64(answers))
	}
	if len(series.Times) > 0 {
		slices.Sort(series.Times)
		p99 := float64(series.Times[(len(series.Times)*99+99)/100-1].Nanoseconds()) / 1e6
		m.AnswerP99MS = &p99
	}
	return m
}

// Backends counts the backends, agents and overrides of the node.
func (s *Sources) Backends() api.Stats {
	now := s.Now()
	cfg, _ := s.Config()
	stats := api.Stats{
		ClusterName:         cfg.Overwatch.Gossip.ClusterName,
		ActiveOverrides:     s.View.CountActive(api.OrderOverride),
		ValidationEnabled:   cfg.Overwatch.Validation.Enabled,
		ValidationSuspended: s.View.IsIsolated(),
		BackendsByService:   map[string]int{},
		BackendsByRegion:    map[string]int{},
		GeneratedAt:         api.Stamp(now),
	}
	for b := range s.View.Backends() {
		countBackend(&stats, b)
	}
	stats.UniqueServices = len(stats.BackendsByService)
	for a := range s.View.EachAgent() {
		if conditions.AgentStatus(*a, now) != api.GossipDead {
			stats.ActiveAgents++
		}
	}
	return stats
}

func countBackend(stats *api.Stats, b *registry.Backend) {
	stats.TotalBackends++
	stats.BackendsByService[b.Service]++
	stats.BackendsByRegion[b.Region]++
	switch b.Status {
	case api.EffectiveHealthy:
		stats.HealthyBackends++
	case api.EffectiveUnhealthy:
		stats.UnhealthyBackends++
	case api.EffectiveStale:
		stats.StaleBackends++
	}
	if b.MayServe {
		stats.ServingBackends++
	}
	if b.Held {
		stats.HeldBackends++
	}
	if b.Draining {
		stats.DrainingBackends++
	}
	if b.OwnCheck.State == check.StateUnknown {
		return
	}
	stats.ValidatedBackends++
	if b.IsDisputed() {
		stats.DisagreementCount++
	}
}

// Milliseconds returns a duration in milliseconds, with microsecond precision.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
