package httpapi

import (
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// getStats answers GET /overwatch/stats.
func (s *Server) getStats(c *call) (answer, error) {
	now := s.o.Now()
	cfg, _ := s.o.Config()
	stats := api.Stats{
		ClusterName:         cfg.Overwatch.Gossip.ClusterName,
		ActiveOverrides:     s.o.View.CountInForce(api.OrderOverride),
		ValidationEnabled:   cfg.Overwatch.Validation.Enabled,
		ValidationSuspended: s.o.View.ValidationSuspended(),
		BackendsByService:   map[string]int{},
		BackendsByRegion:    map[string]int{},
		GeneratedAt:         stamp(now),
	}
	for b := range s.o.View.Backends() {
		countBackend(&stats, b)
	}
	stats.UniqueServices = len(stats.BackendsByService)
	for _, a := range s.o.View.Agents() {
		if conditions.AgentStatus(a, now) != api.GossipDead {
			stats.ActiveAgents++
		}
	}
	return ok(stats), nil
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
	if b.Held {
		stats.HeldBackends++
	}
	if b.Draining {
		stats.DrainingBackends++
	}
	if b.Validation.State == check.StateUnknown {
		return
	}
	stats.ValidatedBackends++
	if b.Disputed() {
		stats.DisagreementCount++
	}
}
