package control

import (
	"context"
	"net/netip"
	"unique"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// agentChecks holds the rules for this node's checks of agents' backends, by service. It is immutable.
type agentChecks struct {
	services map[string]agentCheck
	// loopback reports whether only agents on this machine can use gossip. Backends on loopback addresses are then
	// trusted.
	loopback bool
}

// agentCheck is the rule of overwatch.agent_policies for a service.
type agentCheck struct {
	check   unique.Handle[check.Spec]
	trusted []netip.Prefix
}

func newAgentChecks(cfg *config.Config) *agentChecks {
	policies := cfg.Overwatch.AgentPolicies
	a := &agentChecks{services: make(map[string]agentCheck, len(policies)), loopback: GossipsOnLoopback(cfg)}
	for service, policy := range policies {
		known := agentCheck{trusted: policy.AllowedCIDRs}
		if policy.HealthCheck != nil {
			known.check = unique.Make(policy.HealthCheck.Spec())
		}
		a.services[service] = known
	}
	return a
}

// policyOf returns the policy for checking an agent's backend.
func (a *agentChecks) policyOf(id registry.ID) registry.CheckPolicy {
	known := a.services[id.Service]
	policy := registry.CheckPolicy{Check: known.check, Trusted: a.loopback && id.Address.IsLoopback()}
	for _, network := range known.trusted {
		policy.Trusted = policy.Trusted || network.Contains(id.Address)
	}
	return policy
}

// CheckPolicy returns the current policy for checking a backend of an agent.
func (s *State) CheckPolicy(id registry.ID) registry.CheckPolicy {
	return s.agentChecks.Load().policyOf(id)
}

// recheckAgents applies the rules of a configuration for checks of agents' backends.
func (p *Plane) recheckAgents(ctx context.Context, cfg *config.Config) error {
	p.agentChecks.Store(newAgentChecks(cfg))
	return p.o.Registry.ApplyPolicies(ctx)
}

// GossipsOnLoopback reports whether only agents on this machine can reach the node.
func GossipsOnLoopback(cfg *config.Config) bool {
	at, remedy := settings.ParseListener(cfg.Overwatch.Gossip.BindAddress)
	return remedy == "" && at.Addr.IsLoopback()
}
