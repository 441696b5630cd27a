package overwatch

import (
	"context"
	"path/filepath"

	"gslb.internal/overwatch/internal/operate/events"
	"gslb.internal/overwatch/internal/operate/metrics"
	"gslb.internal/overwatch/internal/operate/notify"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/journal"
)

// journalFile is the file in the data directory that stores events across restarts.
const journalFile = "events.jsonl"

// openEvents opens the journal of events, and creates the watcher that writes to it.
func (n *node) openEvents(_ context.Context, cfg *config.Config) error {
	n.journal = journal.Open(journal.Options{Path: filepath.Join(cfg.DataDir, journalFile),
		Logger: n.componentLogger("events")})
	n.core.run("journal", n.journal.Run)
	o := events.Options{
		Node: cfg.Overwatch.Identity.NodeID, Journal: n.journal, View: n.registry.View(), Domains: n.judgedDomains,
		Settings: func() any { return n.state.Config() }, Conditions: n.judge.Standing,
		IsNodeAlive: func(node string) bool { return n.gossip.IsAlive(node) || n.replication.Answers(node) },
		IsPinned:    n.trust.Pinned,
		Audit:       n.audit, Logger: n.componentLogger("events"),
	}
	if n.zones != nil {
		o.Keys, o.Rollovers = n.zones.Keys, n.zones.Rolls
	}
	watcher, err := events.New(o)
	if err != nil {
		return err
	}
	n.events.Store(watcher)
	return metrics.RegisterEvents(n.registerer, n.journal, watcher.Folded)
}

// notificationsFile is the file in the data directory that stores unsent notifications across restarts.
const notificationsFile = "notifications.json"

// openNotifications creates the notifier, which sends events of the journal to the configured targets.
func (n *node) openNotifications(_ context.Context, cfg *config.Config) (err error) {
	n.notifier, err = notify.New(notify.Options{Node: cfg.Overwatch.Identity.NodeID,
		Path: filepath.Join(cfg.DataDir, notificationsFile), Journal: n.journal, Settings: notify.SettingsOf(cfg),
		Peers: n.replication.Reachable, Logger: n.componentLogger("notifications")})
	if err != nil {
		return err
	}
	return metrics.RegisterNotifications(n.registerer, n.notifier.Status)
}
