package api

import "time"

// AgentNode is an agent seen as a node.
type AgentNode struct {
	ID                string      `json:"id"`
	Name              string      `json:"name"`
	Address           string      `json:"address,omitempty"` // source of its reports, or announced; omitted: unknown
	Port              int         `json:"port,omitempty"`    // port of Address; omitted: unknown
	Region            string      `json:"region"`
	Status            AgentStatus `json:"status"`
	Version           string      `json:"version"`
	UptimeSeconds     int64       `json:"uptime_seconds"`
	LastSeen          *time.Time  `json:"last_seen"`
	LeftAt            *time.Time  `json:"left_at"` // time of its leave message; null: no leave message, or a later report
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

// AgentRegistration is the body of POST /api/v1/nodes/agent.
type AgentRegistration struct {
	Name    string `json:"name"`              // the agent's id
	Address string `json:"address,omitempty"` // address of its host, for people
	Port    int    `json:"port,omitempty"`
	Region  string `json:"region,omitempty"`
	Version string `json:"version,omitempty"`
}

// AgentCertificate is the pinned certificate of an agent.
type AgentCertificate struct {
	AgentID     string            `json:"agent_id"`
	Serial      string            `json:"serial"` // hexadecimal
	NotBefore   time.Time         `json:"not_before"`
	NotAfter    time.Time         `json:"not_after"`
	Fingerprint string            `json:"fingerprint"` // sha256:<hexadecimal>
	Status      CertificateStatus `json:"status"`
	IssuedAt    time.Time         `json:"issued_at"`
}

// CertificateStatus is the status of an agent's certificate.
type CertificateStatus string

// The values of CertificateStatus.
const (
	CertificateValid       CertificateStatus = "valid"
	CertificateNotYetValid CertificateStatus = "not_yet_valid"
	CertificateExpired     CertificateStatus = "expired"
	CertificateRevoked     CertificateStatus = "revoked"
)

// AgentCertificateAnswer is the answer of GET
// /api/v1/nodes/agent/{id}/certificate.
type AgentCertificateAnswer struct {
	Certificate AgentCertificate `json:"certificate"`
}

// CertificateReissue is the answer of POST
// /api/v1/nodes/agent/{id}/certificate.
type CertificateReissue struct {
	Message string      `json:"message"`
	Status  AgentStatus `json:"status"` // pending
}

// OverwatchNode is an overwatch node: this node, or a peer known from gossip or key synchronization. Unknown fields of
// a peer are omitted; unknown queries_per_sec is 0, and unknown dnssec_enabled is false.
type OverwatchNode struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Address       string          `json:"address,omitempty"`
	Port          int             `json:"port,omitempty"` // of DNS
	APIPort       int             `json:"api_port,omitempty"`
	Region        string          `json:"region,omitempty"`
	Status        OverwatchStatus `json:"status"`
	Version       string          `json:"version,omitempty"`
	UptimeSeconds *int64          `json:"uptime_seconds,omitempty"`
	LastSeen      *time.Time      `json:"last_seen,omitempty"`
	QueriesTotal  *uint64         `json:"queries_total,omitempty"`
	QueriesPerSec float64         `json:"queries_per_sec"` // mean since the node started
	DNSSECEnabled bool            `json:"dnssec_enabled"`
	Self          bool            `json:"self"` // the node that answers
}

// OverwatchNodeList is the answer of GET /api/v1/nodes/overwatch.
type OverwatchNodeList struct {
	Nodes       []OverwatchNode `json:"nodes"`
	Total       int             `json:"total"`
	GeneratedAt time.Time       `json:"generated_at"`
}

// OverwatchStatus is the status of an overwatch node.
type OverwatchStatus string

// The values of OverwatchStatus.
const (
	OverwatchOnline  OverwatchStatus = "online"
	OverwatchOffline OverwatchStatus = "offline"
	// OverwatchDegraded is a node that misses probes or is not ready.
	OverwatchDegraded OverwatchStatus = "degraded"
)

// OverwatchStatuses lists the vocabulary in the order it is documented.
func OverwatchStatuses() []OverwatchStatus {
	return []OverwatchStatus{OverwatchOnline, OverwatchOffline, OverwatchDegraded}
}

// GossipNode is a participant of gossip: an overwatch member or an agent that reports to this node. Unknown fields are
// omitted.
type GossipNode struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	Address  string       `json:"address,omitempty"` // for an agent: source of its latest message; omitted: unknown
	Port     int          `json:"port,omitempty"`    // port of Address; omitted: unknown
	Status   GossipStatus `json:"status"`
	State    GossipState  `json:"state"`
	Region   string       `json:"region,omitempty"`
	Version  string       `json:"version,omitempty"`
	RTTMS    int          `json:"rtt_ms"` // rounded up; 0: not measured, or this node
	LastSeen *time.Time   `json:"last_seen,omitempty"`
	JoinedAt *time.Time   `json:"joined_at,omitempty"`
}

// GossipNodeList is the answer of GET /api/v1/gossip/nodes.
type GossipNodeList struct {
	Nodes       []GossipNode `json:"nodes"`
	Total       int          `json:"total"`
	Healthy     int          `json:"healthy"` // number of alive nodes
	GeneratedAt time.Time    `json:"generated_at"`
}
