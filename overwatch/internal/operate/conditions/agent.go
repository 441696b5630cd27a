package conditions

import (
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// AgentStatus judges an agent by its own promise: a heartbeat each interval. It is suspect when one is missing and dead
// when as many are as its threshold says, or as soon as it has said goodbye.
func AgentStatus(a registry.AgentState, now time.Time) api.GossipStatus {
	if a.HasLeft() {
		return api.GossipDead
	}
	late := a.Interval * 3 / 2 // one missed, after half an interval of patience
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
