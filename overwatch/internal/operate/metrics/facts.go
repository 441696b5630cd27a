package metrics

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"gslb.internal/overwatch/internal/health/ready"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
)

// Fitness is the node's judgement of itself; ready.Judge implements it.
type Fitness interface {
	Readiness() api.Readiness
	Status() api.ServiceStatus
	// NamesDown returns how many domains have fewer backends that may serve than they need.
	NamesDown() int
	// Holding returns how many conditions of each kind hold.
	Holding() map[api.ConditionKind]int
}

// Sources holds the functions and owners that Register reads at each scrape. All are required.
type Sources struct {
	View          *registry.View
	Agents        func(soon time.Duration) trust.Counts // the pinned ones
	Pins          func() []trust.Use                    // use of the limits of each service
	ClockJump     func() time.Duration                  // how far the clock is ahead of the believed time
	Domains       func() []string                       // the names that the node steers
	ClusterName   func() string                         // for people; empty: none
	Fitness       Fitness
	DNSSECEnabled bool
	Build         buildinfo.Info
}

// Register adds the node's own metrics to r, and those of the Go runtime and the process.
func Register(r prometheus.Registerer, s Sources) error {
	if s.View == nil || s.Agents == nil || s.Pins == nil || s.ClockJump == nil || s.Domains == nil ||
		s.ClusterName == nil || s.Fitness == nil {
		return errors.New("metrics: a source is not set")
	}
	return errors.Join(
		r.Register(collectors.NewGoCollector()),
		r.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
		r.Register(&facts{s, describe()}),
		r.Register(newPins(s.Pins)),
	)
}

// facts collects metrics from their owners at each scrape.
type facts struct {
	s Sources
	d descs
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("gslb_"+name, help, labels, nil)
}

// descs describes the metrics of facts.
type descs struct {
	build, cluster, ready, status, dnssec, suspended, clock           *prometheus.Desc
	healthy, backends, draining, domains, domainsDown                 *prometheus.Desc
	disputed, conditions                                              *prometheus.Desc
	held, braked                                                      *prometheus.Desc
	overrides, registered, active, stale, revoked, expiring, outdated *prometheus.Desc
}

func describe() descs {
	return descs{
		build: desc("build_info", "What is running; always 1.", "version", "go_version", "git_commit"),
		cluster: desc("overwatch_cluster_info",
			"What the cluster is called; always 1, and absent without overwatch.gossip.cluster_name.", "cluster_name"),
		ready:  desc("overwatch_ready", "1 when DNS answers and a cycle of health checks has completed."),
		status: desc("overwatch_status", "1 for the status of GET /api/health, 0 for the others.", "status"),
		dnssec: desc("dnssec_enabled", "1 when answers are signed."),
		suspended: desc("overwatch_validation_suspended",
			"1 while the node sets its own verdicts aside because it seems cut off."),
		clock: desc("overwatch_clock_jump_seconds",
			"How far the clock jumped, for 5 minutes after it did; certificates are judged by the time before."),
		healthy:  desc("overwatch_backends_healthy", "Backends whose effective status is healthy."),
		backends: desc("overwatch_backends", "Backends by effective status.", "status"),
		draining: desc("overwatch_backends_draining", "Backends that drain or have drained."),
		disputed: desc("overwatch_disagreements",
			"Backends of which the agent and the node's own check say different things."),
		conditions: desc("overwatch_conditions", "What holds and may need somebody, by kind, as GET "+
			"/api/v1/overwatch/conditions lists it.", "kind"),
		held: desc("overwatch_backends_held",
			"Backends that are served although their agent speaks against them, since too many did at once."),
		braked: desc("overwatch_brakes", "Brakes that are on: of names of which agents alone would take too much at once.",
			"concern"),
		domains:     desc("overwatch_domains", "Domains that the node steers."),
		domainsDown: desc("overwatch_domains_down", "Domains with fewer backends that may serve than they need."),
		overrides:   desc("overwatch_overrides", "Overrides in force."),
		registered:  desc("overwatch_agents_registered", "Pinned agents that are not revoked."),
		active:      desc("overwatch_agents_active", "Agents whose heartbeats arrive."),
		stale: desc("overwatch_stale_agents",
			"Agents that have missed as many heartbeats as their threshold says, without a goodbye."),
		revoked: desc("overwatch_agents_revoked", "Revoked agents that are still listed."),
		outdated: desc("overwatch_agents_previous_token",
			"Agents that speak for a service by one of previous_agent_tokens."),
		expiring: desc("overwatch_agents_expiring", fmt.Sprintf("Agents whose certificate ends within %d days or has ended.",
			api.DefaultExpiringDays)),
	}
}

// Describe implements prometheus.Collector.
func (f *facts) Describe(ch chan<- *prometheus.Desc) {
	d := &f.d
	for _, one := range []*prometheus.Desc{
		d.build, d.cluster, d.ready, d.status, d.dnssec, d.suspended, d.healthy, d.backends, d.draining, d.domains,
		d.domainsDown,
		d.conditions, d.overrides, d.registered, d.active, d.stale, d.revoked, d.expiring, d.outdated,
		d.held, d.braked,
	} {
		ch <- one
	}
}

// Collect implements prometheus.Collector.
func (f *facts) Collect(ch chan<- prometheus.Metric) {
	d := f.d
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	b := f.s.Build
	gauge(d.build, 1, b.Version, b.GoVersion, b.GitCommit)
	if name := f.s.ClusterName(); name != "" {
		gauge(d.cluster, 1, name)
	}
	gauge(d.ready, truth(f.s.Fitness.Readiness().Ready))
	gauge(d.dnssec, truth(f.s.DNSSECEnabled))
	gauge(d.suspended, truth(f.s.View.ValidationSuspended()))
	gauge(d.clock, f.s.ClockJump().Seconds())
	current := f.s.Fitness.Status()
	for _, status := range []api.ServiceStatus{api.ServiceHealthy, api.ServiceDegraded, api.ServiceUnhealthy} {
		gauge(d.status, truth(status == current), string(status))
	}
	holding := f.s.Fitness.Holding()
	for _, t := range api.ConditionTypes() {
		gauge(d.conditions, float64(holding[t.Kind]), string(t.Kind))
	}
	f.collectBackends(gauge)
	f.collectAgents(gauge)
}

type gaugeFunc func(desc *prometheus.Desc, value float64, labels ...string)

func (f *facts) collectBackends(gauge gaugeFunc) {
	d := f.d
	byStatus := map[api.EffectiveStatus]int{}
	draining, disputed, held := 0, 0, 0
	for b := range f.s.View.Backends() {
		byStatus[b.Status]++
		if b.Draining {
			draining++
		}
		if b.Disputed() {
			disputed++
		}
		if b.Held {
			held++
		}
	}
	for _, status := range api.EffectiveStatuses() {
		gauge(d.backends, float64(byStatus[status]), string(status))
	}
	gauge(d.healthy, float64(byStatus[api.EffectiveHealthy]))
	gauge(d.draining, float64(draining))
	gauge(d.disputed, float64(disputed))
	gauge(d.overrides, float64(f.s.View.CountInForce(api.OrderOverride)))
	gauge(d.held, float64(held))
	braked := map[api.BrakeConcern]int{}
	for _, b := range f.s.View.Brakes() {
		braked[b.Concern.Word()]++
	}
	for _, concern := range []api.BrakeConcern{api.BrakeUnhealthy, api.BrakeWarning} {
		gauge(d.braked, float64(braked[concern]), string(concern))
	}
	gauge(d.domains, float64(len(f.s.Domains())))
	gauge(d.domainsDown, float64(f.s.Fitness.NamesDown()))
}

func (f *facts) collectAgents(gauge gaugeFunc) {
	d := f.d
	pinned := f.s.Agents(api.DefaultExpiringDays * 24 * time.Hour)
	active, stale := 0, 0
	now := time.Now()
	for _, a := range f.s.View.Agents() {
		switch {
		case ready.AgentStatus(a, now) != api.GossipDead:
			active++
		case !a.Left():
			stale++
		}
	}
	gauge(d.registered, float64(pinned.Valid))
	gauge(d.revoked, float64(pinned.Revoked))
	gauge(d.expiring, float64(pinned.Expiring))
	gauge(d.outdated, float64(pinned.Outdated))
	gauge(d.active, float64(active))
	gauge(d.stale, float64(stale))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
