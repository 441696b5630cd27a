package api

import "time"

// ServerCreate is the body of POST /api/v1/servers.
type ServerCreate struct {
	Service string `json:"service"` // a configured domain
	Address string `json:"address"`
	Port    int    `json:"port"`
	Weight  *int   `json:"weight,omitempty"` // nil: DefaultServerWeight
	Region  string `json:"region"`           // a configured region
	Agent   string `json:"agent,omitempty"`  // id of the agent whose own server it is; empty: of none
}

// ServerPatch is the body of PATCH /api/v1/servers/{id}. Nil fields stay as they are.
type ServerPatch struct {
	Weight *int    `json:"weight,omitempty"`
	Region *string `json:"region,omitempty"`
	Agent  *string `json:"agent,omitempty"` // empty: of none from now on
}

// DomainBackendCreate is the body of POST /api/v1/domains/{name}/backends.
type DomainBackendCreate struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
	Weight  *int   `json:"weight,omitempty"` // nil: DefaultBackendWeight
	// empty: the first region of the domain, or of the node for a domain without any
	Region string `json:"region,omitempty"`
}

// Named is the answer of a change of one object.
type Named struct {
	Message string `json:"message"`
	ID      string `json:"id"`
}

// DrainRequest is the optional body of POST /api/v1/servers/{id}/drain.
type DrainRequest struct {
	Duration string `json:"duration,omitempty"` // such as "30s"; empty: the domain's TTL
}

// Drain says whether a server is drained, and when its traffic ends.
type Drain struct {
	Draining    bool       `json:"draining"`
	DrainEndsAt *time.Time `json:"drain_ends_at"` // null when not draining
}
