package api

import "time"

// Server is one registered backend as GET /api/v1/servers shows it. ID is
// "<service>:<address>:<port>"; an IPv6 address stands in it without brackets.
type Server struct {
	ID              string          `json:"id"`
	Service         string          `json:"service"`
	Address         string          `json:"address"`
	Port            int             `json:"port"`
	Weight          int             `json:"weight"`
	Region          string          `json:"region"`
	Source          Source          `json:"source"`
	EffectiveStatus EffectiveStatus `json:"effective_status"`
	AgentHealthy    *bool           `json:"agent_healthy"` // null where no agent reports
	// Agent is the id of the agent named in the declaration, "" for none. Reports of other agents
	// have less weight.
	Agent     string    `json:"agent,omitempty"`
	Draining  bool      `json:"draining"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ServerList is the answer of GET /api/v1/servers.
type ServerList struct {
	Servers     []Server  `json:"servers"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}
