package control

import (
	"context"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/config"
)

// Limits returns the limits of the number of agents and of the rate of new agents, by service.
func Limits(cfg *config.Config) map[string]trust.Limits {
	m := make(map[string]trust.Limits, len(cfg.Overwatch.AgentPolicies))
	for service, policy := range cfg.Overwatch.AgentPolicies {
		m[service] = trust.Limits{MaxAgents: policy.MaxAgents, NewPerSecond: policy.NewPerSecond}
	}
	return m
}

// Policies returns the permitted networks of agents' backends, by service.
func Policies(cfg *config.Config) map[string][]netip.Prefix {
	m := make(map[string][]netip.Prefix, len(cfg.Overwatch.AgentPolicies))
	for service, policy := range cfg.Overwatch.AgentPolicies {
		m[service] = policy.AllowedCIDRs
	}
	return m
}

// Timing returns the durations of the registry.
func Timing(cfg *config.Config) registry.Timing {
	return registry.Timing{
		StaleThreshold: cfg.Overwatch.Stale.Threshold, RemoveAfter: cfg.Overwatch.Stale.RemoveAfter,
		ValidationEnabled:  cfg.Overwatch.Validation.Enabled,
		ValidationInterval: cfg.Overwatch.Validation.CheckInterval,
		FlapWindow:         cfg.Overwatch.Flapping.Window,
		Agreement:          hints.AgreementOf(cfg),
	}
}

// Protection returns the settings of the mass-failure protection for a service. For "", it returns the settings for
// agents and regions.
func (s *State) Protection(service string) status.Protection {
	b := s.Config().BrakeOf(service)
	return status.Protection{Enabled: b.Enabled, Percent: b.Percent(), KeepRegion: b.KeepRegion,
		Window: b.Window, HoldTime: b.Hold}
}

// RecoveryRamp returns the time in which the share of a service's backend rises after a failure, or 0 without a ramp.
func (s *State) RecoveryRamp(service string) time.Duration { return s.Config().RecoveryRamp(service) }

// Damping returns the delay of flapping backends of a service.
func (s *State) Damping(service string) status.Damping {
	f := s.Config().FlapOf(service)
	return status.Damping{Delay: time.Duration(f.Delay), MaxDelay: time.Duration(f.MaxDelay)}
}

// Declare sends the servers of a configuration to the registry. They replace all declared servers.
func Declare(ctx context.Context, r *registry.Registry, t *Targets, cfg *config.Config) error {
	return r.SetStaticDeclarations(ctx, t.declarations(cfg))
}

// TendPins deletes the pins of agents that never report, and removes their backends. It returns when ctx ends.
func TendPins(ctx context.Context, t *trust.Trust, r *registry.Registry) error {
	return t.DeleteSilentPins(ctx, func(agentIDs []string) {
		for _, id := range agentIDs {
			_ = r.RemoveAgent(ctx, id) // fails only during the shutdown of the node
		}
	})
}

func declarationOf(s config.StaticServer) registry.Declaration {
	return registry.Declaration{
		ID:     registry.ID{Service: s.Service, Address: s.Address, Port: s.Port},
		Weight: s.Weight, Region: s.Region, Agent: s.Agent, Check: s.Check,
	}
}
