package overwatch

import (
	"context"
	"gslb.internal/overwatch/internal/health/registry"
	"path/filepath"

	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/state/config"
)

// historyFile is the file in the data directory that stores the history of metrics across restarts.
const historyFile = "metrics-history.json"

// openHistory opens the history of metrics and starts recording.
func (n *node) openHistory(_ context.Context, cfg *config.Config) (err error) {
	n.history, err = history.Open(history.Options{Path: filepath.Join(cfg.DataDir, historyFile),
		Logger: n.componentLogger("metrics"),
		Read: history.Sources{DNS: n.dns, Checks: n.checks.Load, Decisions: n.decisions, View: n.registry.View(),
			Domains: func() int { return n.state.Config().CountDomains() }}.Read})
	if err != nil {
		return err
	}
	n.core.run("history", n.history.Run)
	return nil
}

// measuresDomains reports whether domains have separate metrics.
func (n *node) measuresDomains() bool {
	cfg := n.state.Config()
	return cfg.Metrics.Enabled && cfg.CountDomains() <= cfg.Metrics.PerDomain
}

// measuredServices returns the domains that have separate metrics.
func (n *node) measuredServices() map[string]bool {
	if !n.measuresDomains() {
		return nil
	}
	names := n.state.Domains()
	measured := make(map[string]bool, len(names))
	for _, name := range names {
		measured[name] = true
	}
	return measured
}

// observeDuration adds the duration of a successful check to the metrics.
func (n *node) observeDuration(v registry.CheckResult) {
	if b := n.registry.View().Get(v.ID); b != nil {
		n.durations.Observe(v.ID.Service, b.Region, v.Latency)
	}
}
