package overwatch

import (
	"context"
	"net/netip"
	"unique"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
)

// agentChecks are how this node may check agents' backends, by service. It is immutable.
type agentChecks struct {
	services map[string]agentCheck
	// loopback tells that backends on loopback addresses are as good as the agent's own address.
	loopback bool
}

// agentCheck is what overwatch.agent_policies say of one service.
type agentCheck struct {
	check   unique.Handle[check.Spec]
	trusted []netip.Prefix
}

func newAgentChecks(cfg *config.Config) *agentChecks {
	policies := cfg.Overwatch.AgentPolicies
	a := &agentChecks{services: make(map[string]agentCheck, len(policies)), loopback: gossipsOnLoopback(cfg)}
	for service, policy := range policies {
		known := agentCheck{trusted: policy.AllowedCIDRs}
		if policy.HealthCheck != nil {
			known.check = unique.Make(policy.HealthCheck.Spec())
		}
		a.services[service] = known
	}
	return a
}

// of returns how a backend may be checked.
func (a *agentChecks) of(id registry.ID) registry.CheckPolicy {
	known := a.services[id.Service]
	policy := registry.CheckPolicy{Check: known.check, Trusted: a.loopback && id.Address.IsLoopback()}
	for _, network := range known.trusted {
		policy.Trusted = policy.Trusted || network.Contains(id.Address)
	}
	return policy
}

// checkPolicy implements registry.Options.CheckPolicy.
func (n *node) checkPolicy(id registry.ID) registry.CheckPolicy { return n.agentChecks.Load().of(id) }

// recheckAgents has agents' backends checked as a configuration says.
func (n *node) recheckAgents(ctx context.Context, cfg *config.Config) error {
	n.agentChecks.Store(newAgentChecks(cfg))
	return n.registry.RecheckPolicies(ctx)
}
