package overwatch

import (
	"context"
	"path/filepath"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/ready"
	"gslb.internal/overwatch/internal/operate/events"
	"gslb.internal/overwatch/internal/operate/metrics"
	"gslb.internal/overwatch/internal/operate/notify"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/journal"
)

// journalFile keeps events over a restart, in the data directory.
const journalFile = "events.jsonl"

// openEvents makes what tells of what happens.
func (n *node) openEvents(_ context.Context, cfg *config.Config) error {
	judge, err := n.judge()
	if err != nil {
		return err
	}
	n.journal = journal.Open(journal.Options{Path: filepath.Join(cfg.DataDir, journalFile), Logger: n.part("events")})
	n.core.run("journal", n.journal.Run)
	o := events.Options{
		Node: cfg.Overwatch.Identity.NodeID, Journal: n.journal, View: n.registry.View(), Domains: n.names,
		Settings: func() any { return n.state.Config() }, Standing: judge.Standing, Heard: n.heard, Pinned: n.pinned,
		Audit: n.audit, Logger: n.part("events"),
	}
	if n.zones != nil {
		o.Keys, o.Rolls = n.zones.Keys, n.zones.Rolls
	}
	if n.events, err = events.New(o); err != nil {
		return err
	}
	n.changes.tell(n.events.Mark)
	return metrics.RegisterEvents(n.registerer, n.journal, n.events.Folded)
}

// notificationsFile keeps what waits to be notified over a restart, in the data directory.
const notificationsFile = "notifications.json"

// openNotifications makes what tells others of events.
func (n *node) openNotifications(_ context.Context, cfg *config.Config) (err error) {
	n.notifier, err = notify.New(notify.Options{Node: cfg.Overwatch.Identity.NodeID,
		Path: filepath.Join(cfg.DataDir, notificationsFile), Journal: n.journal, Settings: notify.SettingsOf(cfg),
		Peers: n.replication.Reachable, Logger: n.part("notifications")})
	if err != nil {
		return err
	}
	return metrics.RegisterNotifications(n.registerer, n.notifier.Status)
}

// names lists the names that the node steers, those of the API too.
func (n *node) names() []ready.Domain {
	cfg := n.state.Config()
	list := make([]ready.Domain, 0, cfg.CountDomains())
	for d := range cfg.AllDomains {
		list = append(list, judged(cfg, d))
	}
	return list
}

// heard reports whether gossip hears another node.
func (n *node) heard(node string) bool {
	for _, m := range n.gossip.Members() {
		if m.Name == node {
			return m.Status == gossip.StatusAlive
		}
	}
	return false
}

// pinned reports whether an agent is pinned, and since when.
func (n *node) pinned(agent string) (since time.Time, pinned bool) {
	record, pinned := n.trust.Get(agent)
	return record.FirstSeen, pinned && !record.Revoked
}
