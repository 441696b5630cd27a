package metrics

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
)

// Fitness is the node's assessment of itself. conditions.Judge implements it.
type Fitness interface {
	Readiness() api.Readiness
	Status() api.ServiceStatus
	// NamesDown returns the number of domains with fewer serving backends than required.
	NamesDown() int
	// Holding returns the number of active conditions of each kind.
	Holding() map[api.ConditionKind]int
}

// Sources contains the data sources of each scrape. All are required.
type Sources struct {
	View          *registry.View
	Agents        func(soon time.Duration) trust.Counts // counts of pinned agents
	Pins          func() []trust.Use                    // use of the limits of each service
	ClockJump     func() time.Duration                  // difference between the clock and the trusted time
	PerDomain     DomainSources
	ClusterName   func() string // display name; empty: none
	Fitness       Fitness
	DNSSECEnabled bool
	Build         buildinfo.Info
}

// Register adds the metrics of the node, the Go runtime and the process to r.
func Register(r prometheus.Registerer, from Sources) error {
	if from.View == nil || from.Agents == nil || from.Pins == nil || from.ClockJump == nil || from.ClusterName == nil ||
		from.Fitness == nil || from.PerDomain.isIncomplete() {
		return errors.New("metrics: a source is not set")
	}
	return errors.Join(
		r.Register(collectors.NewGoCollector()),
		r.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
		r.Register(collector(from.collect)),
	)
}

// collect collects the metrics of the node.
func (from Sources) collect(s scrape) {
	b := from.Build
	s.gauge("build_info", "Version of the running program; always 1.", 1,
		"version", b.Version, "go_version", b.GoVersion, "git_commit", b.GitCommit)
	if name := from.ClusterName(); name != "" {
		s.gauge("overwatch_cluster_info",
			"Name of the cluster; always 1, absent without overwatch.gossip.cluster_name.", 1, "cluster_name", name)
	}
	s.gauge("overwatch_ready", "1 when DNS answers and a cycle of health checks has completed.",
		truth(from.Fitness.Readiness().Ready))
	s.gauge("dnssec_enabled", "1 when answers are signed.", truth(from.DNSSECEnabled))
	s.gauge("overwatch_validation_suspended", "1 during self-isolation: the node ignores its failed own checks.",
		truth(from.View.IsIsolated()))
	s.gauge("overwatch_clock_jump_seconds",
		"How far the clock jumped, for 5 minutes after it did; certificates are judged by the time before.",
		from.ClockJump().Seconds())
	current := from.Fitness.Status()
	for _, status := range []api.ServiceStatus{api.ServiceHealthy, api.ServiceDegraded, api.ServiceUnhealthy} {
		s.gauge("overwatch_status", "1 for the status of GET /api/health, 0 for the others.", truth(status == current),
			"status", string(status))
	}
	holding := from.Fitness.Holding()
	for _, t := range api.ConditionTypes() {
		s.gauge("overwatch_conditions",
			"Active conditions by kind, as in GET /api/v1/overwatch/conditions.",
			float64(holding[t.Kind]), "kind", string(t.Kind))
	}
	from.collectBackends(s)
	from.collectDomains(s)
	from.collectAgents(s)
	collectPins(s, from.Pins())
}

func (from Sources) collectBackends(s scrape) {
	byStatus := map[api.EffectiveStatus]int{}
	draining, disputed, held := 0, 0, 0
	for b := range from.View.Backends() {
		byStatus[b.Status]++
		if b.Draining {
			draining++
		}
		if b.IsDisputed() {
			disputed++
		}
		if b.Held {
			held++
		}
	}
	for _, status := range api.EffectiveStatuses() {
		s.gauge("overwatch_backends", "Backends by effective status.", float64(byStatus[status]), "status", string(status))
	}
	s.gauge("overwatch_backends_healthy", "Backends with the effective status healthy.",
		float64(byStatus[api.EffectiveHealthy]))
	s.gauge("overwatch_backends_draining", "Backends that drain or have drained.", float64(draining))
	s.gauge("overwatch_disagreements", "Backends with different results of agent report and own check.",
		float64(disputed))
	s.gauge("overwatch_overrides", "Active overrides.", float64(from.View.CountActive(api.OrderOverride)))
	s.gauge("overwatch_backends_held",
		"Backends that serve because of a mass-failure hold.", float64(held))
	braked := map[api.BrakeConcern]int{}
	for _, b := range from.View.Holds() {
		braked[b.Kind.Concern()]++
	}
	for _, concern := range []api.BrakeConcern{api.BrakeUnhealthy, api.BrakeWarning} {
		s.gauge("overwatch_brakes", "Mass-failure protections that are on: of names, regions and agents.",
			float64(braked[concern]), "concern", string(concern))
	}
	s.gauge("overwatch_domains_down", "Domains with fewer backends that may serve than they need.",
		float64(from.Fitness.NamesDown()))
}

func (from Sources) collectAgents(s scrape) {
	pinned := from.Agents(api.DefaultExpiringDays * 24 * time.Hour)
	active, stale := 0, 0
	now := time.Now()
	for a := range from.View.EachAgent() {
		switch {
		case conditions.AgentStatus(*a, now) != api.GossipDead:
			active++
		case !a.HasLeft():
			stale++
		}
	}
	s.gauge("overwatch_agents_registered", "Pinned agents that are not revoked.", float64(pinned.Valid))
	s.gauge("overwatch_agents_revoked", "Revoked agents that are still listed.", float64(pinned.Revoked))
	s.gauge("overwatch_agents_expiring",
		fmt.Sprintf("Agents with a certificate that has expired or expires within %d days.", api.DefaultExpiringDays),
		float64(pinned.Expiring))
	s.gauge("overwatch_agents_previous_token", "Agents that speak for a service by one of previous_agent_tokens.",
		float64(pinned.Outdated))
	s.gauge("overwatch_agents_active", "Agents with timely heartbeats.", float64(active))
	s.gauge("overwatch_stale_agents",
		"Agents without heartbeats for their threshold, except after a goodbye.", float64(stale))
}
