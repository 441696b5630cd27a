package api

import "time"

// Override is a verdict set by hand. Address is "<ip>" for all ports of that
// address or "<ip>:<port>" for one, with an IPv6 address in brackets before a
// port.
type Override struct {
	Service   string     `json:"service"`
	Address   string     `json:"address"`
	Healthy   bool       `json:"healthy"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"` // whose token it was, else the client's address
	ExpiresAt *time.Time `json:"expires_at"` // null: never
}

// OverrideList is the answer of GET /api/v1/overrides.
type OverrideList struct {
	Overrides   []Override `json:"overrides"`
	Total       int        `json:"total"`
	GeneratedAt time.Time  `json:"generated_at"`
}

// OverrideRequest is the body that sets an override. Healthy and Reason are
// required; ExpiresIn is a duration such as "30m", empty for no end.
type OverrideRequest struct {
	Healthy   *bool  `json:"healthy"`
	Reason    string `json:"reason"`
	Source    string `json:"source,omitempty"`
	ExpiresIn string `json:"expires_in,omitempty"`
}
