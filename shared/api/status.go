package api

// EffectiveStatus is the status of a backend on a node, from overrides, the agent report and its
// own validation.
type EffectiveStatus string

// The values of EffectiveStatus.
const (
	EffectiveHealthy   EffectiveStatus = "healthy"
	EffectiveUnhealthy EffectiveStatus = "unhealthy"
	// EffectiveStale is a backend with an agent that no longer reports. Only own checks decide whether the backend may
	// serve.
	EffectiveStale EffectiveStatus = "stale"
)

// EffectiveStatuses lists the vocabulary in the order it is documented.
func EffectiveStatuses() []EffectiveStatus {
	return []EffectiveStatus{EffectiveHealthy, EffectiveUnhealthy, EffectiveStale}
}

// ServiceStatus is the status that a node reports for itself.
type ServiceStatus string

// The values of ServiceStatus.
const (
	ServiceHealthy   ServiceStatus = "healthy"
	ServiceDegraded  ServiceStatus = "degraded"
	ServiceUnhealthy ServiceStatus = "unhealthy"
)

// CheckStatus is the status of a server health record.
type CheckStatus string

// The values of CheckStatus.
const (
	CheckHealthy   CheckStatus = "healthy"
	CheckUnhealthy CheckStatus = "unhealthy"
	// CheckUnknown is a server without a check result yet.
	CheckUnknown CheckStatus = "unknown"
)

// Source is the origin of a server's declaration.
type Source string

// The values of Source.
const (
	SourceStatic Source = "static"
	SourceAgent  Source = "agent"
	SourceAPI    Source = "api"
)

// AgentStatus is the status of an agent node.
type AgentStatus string

// The values of AgentStatus.
const (
	AgentOnline  AgentStatus = "online"
	AgentOffline AgentStatus = "offline"
	// AgentPending is an announced agent that has not reported yet.
	AgentPending AgentStatus = "pending"
)

// AgentStatuses lists the vocabulary in the order it is documented.
func AgentStatuses() []AgentStatus {
	return []AgentStatus{AgentOnline, AgentOffline, AgentPending}
}

// GossipStatus is the status of a gossip node.
type GossipStatus string

// The values of GossipStatus.
const (
	GossipAlive   GossipStatus = "alive"
	GossipSuspect GossipStatus = "suspect"
	GossipDead    GossipStatus = "dead"
)

// GossipStatuses lists the vocabulary in the order it is documented.
func GossipStatuses() []GossipStatus {
	return []GossipStatus{GossipAlive, GossipSuspect, GossipDead}
}

// GossipState is the role of a gossip node. Gossip has no leader.
type GossipState string

// The values of GossipState.
const (
	GossipSelf   GossipState = "self"
	GossipMember GossipState = "member"
)
