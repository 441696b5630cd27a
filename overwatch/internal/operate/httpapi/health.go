package httpapi

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// listServerHealth answers GET /health/servers.
func (s *Server) listServerHealth(c *call) (answer, error) {
	list := api.ServerHealthList{GeneratedAt: stamp(s.o.Now())}
	list.Servers, list.Total = pageOf(within(c, ordered(s.o.View), s.seesBackend(c)), c.page, serverHealth)
	return ok(list), nil
}

// serverHealth returns the result of all checks of a server. The counts are from its agent, or from own checks without
// an agent report.
func serverHealth(b *registry.Backend) api.ServerHealth {
	report := b.Report()
	record := api.ServerHealth{
		ID:                   b.ID.String(),
		Service:              b.Service,
		Address:              b.Address.String(),
		Port:                 int(b.Port),
		Region:               b.Region,
		Healthy:              b.IsHealthy(),
		Status:               checkStatus(b),
		LastCheck:            api.MomentOrNull(later(report.CheckedAt, b.OwnCheck.At)),
		LastHealthy:          api.MomentOrNull(b.LastHealthyAt),
		ConsecutiveFailures:  b.OwnCheck.Failures,
		ConsecutiveSuccesses: b.OwnCheck.Successes,
	}
	if b.Reported != nil {
		record.ConsecutiveFailures, record.ConsecutiveSuccesses = report.Failures, report.Successes
	}
	if !record.Healthy {
		text := lastError(b, report)
		record.LastError = &text
	}
	return record
}

func checkStatus(b *registry.Backend) api.CheckStatus {
	switch {
	case b.Reason == status.ReasonUnknown:
		return api.CheckUnknown
	case b.IsHealthy():
		return api.CheckHealthy
	default:
		return api.CheckUnhealthy
	}
}

// lastError returns the reason why a server is not healthy: the error of the decisive check, or else the reason of the
// status.
func lastError(b *registry.Backend, report registry.Report) string {
	switch b.Reason {
	case status.ReasonAgentUnhealthy:
		return cmp.Or(report.LastError, b.Reason)
	case status.ReasonFailing, status.ReasonStaleFailing, status.ReasonValidationUnhealthy:
		return cmp.Or(b.OwnCheck.LastError, b.Reason)
	}
	return b.Reason
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// listRegionHealth answers GET /health/regions with the configured regions and the regions in agent reports.
func (s *Server) listRegionHealth(c *call) (answer, error) {
	cfg, _ := s.o.Config()
	counts := s.edit.CountServers()
	for _, r := range cfg.Regions {
		n := counts[r.Name]
		counts[r.Name] = n // also a region without servers
	}
	list := api.RegionHealthList{Regions: []api.RegionHealth{}, Total: len(counts), GeneratedAt: stamp(s.o.Now())}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		r := api.RegionHealth{Name: name, TotalServers: n.All, HealthyCount: n.Healthy,
			UnhealthyCount: n.All - n.Healthy}
		if n.All > 0 {
			r.HealthPercent = 100 * float64(n.Healthy) / float64(n.All)
		}
		list.Regions = append(list.Regions, r)
	}
	return ok(list), nil
}
