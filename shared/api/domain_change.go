package api

// DomainChange is the body of POST /api/v1/domains, which needs a name, and of PUT and PATCH
// /api/v1/domains/{name}. There nil fields stay as they are, and a name other than the domain's is
// refused.
type DomainChange struct {
	Name          string  `json:"name,omitempty"`
	TTL           *int    `json:"ttl,omitempty"`            // seconds; new: dns.default_ttl
	RoutingPolicy *string `json:"routing_policy,omitempty"` // new: round-robin
	// FallbackAlgorithm is used where RoutingPolicy lacks data. Empty means RoutingPolicy's own way
	// without data.
	FallbackAlgorithm *string `json:"fallback_algorithm,omitempty"`
	// MinHealthy is the least number of servable backends, absolute as in "2" or a part of all as
	// in "50%". With fewer, the domain uses its last resort. Empty means no minimum.
	MinHealthy *string `json:"min_healthy,omitempty"`
	// ProximityToleranceKm is the distance in kilometres by which a region may be farther than the
	// nearest and still share its answers, with proximity. New domains have 100.
	ProximityToleranceKm *float64 `json:"proximity_tolerance_km,omitempty"`
	// ClientHashIPv4Prefix and ClientHashIPv6Prefix are the numbers of leading bits of an address
	// that make a client's network, with client-hash. New domains have 24 and 56.
	ClientHashIPv4Prefix *int      `json:"client_hash_ipv4_prefix,omitempty"`
	ClientHashIPv6Prefix *int      `json:"client_hash_ipv6_prefix,omitempty"`
	DNSSECEnabled        *bool     `json:"dnssec_enabled,omitempty"` // only what the node does
	Enabled              *bool     `json:"enabled,omitempty"`        // new: true
	Description          *string   `json:"description,omitempty"`
	Regions              *[]string `json:"regions,omitempty"` // configured regions, in order of preference
}

// Reload is the answer of POST /api/v1/config/reload.
type Reload struct {
	Reloaded bool `json:"reloaded"`
	// changed keys now in force, and the directory of changed signing keys
	Changes         []string `json:"changes"`
	RestartRequired []string `json:"restart_required"` // changed keys and files that wait for a restart
}

// GossipKey is the answer of POST /api/v1/gossip/generate-key.
type GossipKey struct {
	Key       string `json:"key"` // base64
	Algorithm string `json:"algorithm"`
	Bits      int    `json:"bits"`
}
