package history

import (
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnsserver"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/shared/api"
)

// Sources has the data sources of a Reading. All are required.
type Sources struct {
	DNS       *dnsserver.Server
	Checks    func() uint64 // number of own checks
	Decisions *decisions.Recorder
	View      *registry.View
	Domains   func() int // number of load-balanced domains
}

// Read returns the current values.
func (s Sources) Read() Reading {
	dns := s.DNS.Stats()
	r := Reading{At: time.Now(), Queries: dns.Queries, Failed: dns.Failed, Times: dns.Times, Checks: s.Checks(),
		Domains: s.Domains(), Regions: s.Decisions.Totals().ByRegion}
	r.TakeProcess()
	r.Healthy, r.Unhealthy, r.Stale = s.View.Count(api.EffectiveHealthy), s.View.Count(api.EffectiveUnhealthy),
		s.View.Count(api.EffectiveStale)
	for a := range s.View.EachAgent() {
		if conditions.AgentStatus(*a, r.At) != api.GossipDead {
			r.Agents++
		}
	}
	return r
}
