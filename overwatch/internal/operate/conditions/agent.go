package conditions

import (
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// AgentStatus returns the gossip status of an agent according to its heartbeat interval. It is suspect after a missing
// heartbeat, and dead after the number of missing heartbeats of its threshold, or after its leave message.
func AgentStatus(a registry.AgentState, now time.Time) api.GossipStatus {
	if a.HasLeft() {
		return api.GossipDead
	}
	late := a.Interval * 3 / 2 // a missing heartbeat, with half an interval of tolerance
	gone := max(late, a.Interval*time.Duration(a.MissedThreshold))
	switch silence := now.Sub(a.LastSeen); {
	case silence < late:
		return api.GossipAlive
	case silence < gone:
		return api.GossipSuspect
	default:
		return api.GossipDead
	}
}
