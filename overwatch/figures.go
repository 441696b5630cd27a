package overwatch

import (
	"context"
	"path/filepath"
	"time"

	"gslb.internal/overwatch/internal/health/ready"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// historyFile is the file in the data directory that keeps the history of metrics over a restart.
const historyFile = "metrics-history.json"

// openHistory opens the history of metrics and begins to record.
func (n *node) openHistory(_ context.Context, cfg *config.Config) (err error) {
	n.history, err = history.Open(history.Options{Read: n.reading, Path: filepath.Join(cfg.DataDir, historyFile),
		Logger: n.part("metrics")})
	if err != nil {
		return err
	}
	n.core.run("history", n.history.Run)
	return nil
}

// reading returns the figures that the history records: totals since the start, and the present numbers of domains,
// backends and agents.
func (n *node) reading() history.Reading {
	dns := n.dns.Figures()
	r := history.Reading{
		At: time.Now(), Queries: dns.Queries, Failed: dns.Failed, Times: dns.Times, Checks: n.checks.Load(),
		Domains: n.state.Config().CountDomains(),
	}
	r.Regions = n.decisions.Totals().ByRegion
	r.TakeProcess()
	view := n.registry.View()
	r.Healthy, r.Unhealthy, r.Stale = view.Count(api.EffectiveHealthy), view.Count(api.EffectiveUnhealthy),
		view.Count(api.EffectiveStale)
	for _, a := range view.Agents() {
		if ready.AgentStatus(a, r.At) != api.GossipDead {
			r.Agents++
		}
	}
	return r
}
