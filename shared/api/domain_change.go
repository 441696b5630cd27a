package api

// DomainChange is the body of POST /api/v1/domains, which needs a name, and of
// PUT and PATCH /api/v1/domains/{name}, which leave what is nil as it is and
// take no other name than the domain's.
type DomainChange struct {
	Name          string  `json:"name,omitempty"`
	TTL           *int    `json:"ttl,omitempty"`            // seconds; new: dns.default_ttl
	RoutingPolicy *string `json:"routing_policy,omitempty"` // new: round-robin
	// FallbackAlgorithm chooses where RoutingPolicy lacks data; empty: what that one does by itself.
	FallbackAlgorithm *string `json:"fallback_algorithm,omitempty"`
	// MinHealthy is how many backends must be fit to serve, a number as in "2" or a part of all as in "50%": with fewer, the name
	// goes to its last resort. Empty: no minimum.
	MinHealthy *string `json:"min_healthy,omitempty"`
	// ProximityToleranceKm is how much farther than the nearest a region may be and still share, with proximity; new: 100.
	ProximityToleranceKm *float64 `json:"proximity_tolerance_km,omitempty"`
	// ClientHashIPv4Prefix and ClientHashIPv6Prefix are how many bits of its address make a client's network, with client-hash;
	// new: 24 and 56.
	ClientHashIPv4Prefix *int      `json:"client_hash_ipv4_prefix,omitempty"`
	ClientHashIPv6Prefix *int      `json:"client_hash_ipv6_prefix,omitempty"`
	DNSSECEnabled        *bool     `json:"dnssec_enabled,omitempty"` // only what the node does
	Enabled              *bool     `json:"enabled,omitempty"`        // new: true
	Description          *string   `json:"description,omitempty"`
	Regions              *[]string `json:"regions,omitempty"` // configured regions, in order of preference
}

// Reload is the answer of POST /api/v1/config/reload.
type Reload struct {
	Reloaded        bool     `json:"reloaded"`
	Changes         []string `json:"changes"`          // keys that changed and are in force, and the directory of signing keys if these did
	RestartRequired []string `json:"restart_required"` // keys and files that changed and wait for a restart
}

// GossipKey is the answer of POST /api/v1/gossip/generate-key.
type GossipKey struct {
	Key       string `json:"key"` // base64
	Algorithm string `json:"algorithm"`
	Bits      int    `json:"bits"`
}
