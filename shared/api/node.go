package api

import "time"

// AgentNode is one agent seen as a node.
type AgentNode struct {
	ID                string      `json:"id"`
	Name              string      `json:"name"`
	Address           string      `json:"address"` // empty: an agent only dials out
	Port              int         `json:"port"`    // 0 for the same reason
	Region            string      `json:"region"`
	Status            AgentStatus `json:"status"`
	Version           string      `json:"version"`
	UptimeSeconds     int64       `json:"uptime_seconds"`
	LastSeen          *time.Time  `json:"last_seen"`
	ChecksTotal       uint64      `json:"checks_total"`
	ChecksPerSec      float64     `json:"checks_per_sec"` // mean since the agent started
	ActiveChecks      int         `json:"active_checks"`
	TargetCount       int         `json:"target_count"`
	CertificateExpiry *time.Time  `json:"certificate_expiry"`
	RegisteredAt      *time.Time  `json:"registered_at"`
}

// AgentNodeList is the answer of GET /api/v1/nodes/agent.
type AgentNodeList struct {
	Nodes       []AgentNode `json:"nodes"`
	Total       int         `json:"total"`
	GeneratedAt time.Time   `json:"generated_at"`
}

// GossipNode is one participant of gossip: an overwatch member or an agent
// that reports to this node.
type GossipNode struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	Address  string       `json:"address"`
	Port     int          `json:"port"`
	Status   GossipStatus `json:"status"`
	State    GossipState  `json:"state"`
	Region   string       `json:"region"`
	Version  string       `json:"version"`
	RTTMS    int          `json:"rtt_ms"`
	LastSeen *time.Time   `json:"last_seen"`
	JoinedAt *time.Time   `json:"joined_at"`
}

// GossipNodeList is the answer of GET /api/v1/gossip/nodes.
type GossipNodeList struct {
	Nodes       []GossipNode `json:"nodes"`
	Total       int          `json:"total"`
	Healthy     int          `json:"healthy"` // how many are alive
	GeneratedAt time.Time    `json:"generated_at"`
}
