package api

import "time"

// Domain is one steered DNS name. Its ID is its name.
type Domain struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	TTL           int    `json:"ttl"` // seconds
	RoutingPolicy string `json:"routing_policy"`
	// FallbackAlgorithm is used where RoutingPolicy lacks data. Empty means RoutingPolicy's own way
	// without data.
	FallbackAlgorithm string `json:"fallback_algorithm,omitempty"`
	// MinHealthy is the least number of servable backends, absolute or as a part of all ("50%").
	// With fewer, the domain uses its last resort. Empty means no minimum.
	MinHealthy string `json:"min_healthy,omitempty"`
	// ProximityToleranceKm is set if the routing policy or the fallback is proximity.
	// ClientHashIPv4Prefix and ClientHashIPv6Prefix are set if one of them is client-hash, or if a
	// region uses client-hash.
	ProximityToleranceKm *float64 `json:"proximity_tolerance_km,omitempty"`
	ClientHashIPv4Prefix *int     `json:"client_hash_ipv4_prefix,omitempty"` // bits
	ClientHashIPv6Prefix *int     `json:"client_hash_ipv6_prefix,omitempty"`
	// Answer is cname if its answers are the host names of its servers; empty: their addresses.
	Answer string `json:"answer,omitempty"`
	// HTTPS is set if it has HTTPS records beside its addresses, SRV if it has SRV records.
	HTTPS *DomainHTTPS `json:"https,omitempty"`
	SRV   []string     `json:"srv,omitempty"` // services, such as _sip._tcp
	// HealthCheckID is the id of the first of its servers that the node checks. Each server has a check of its own, at
	// /servers/{id}/health-check. Empty: none is checked.
	HealthCheckID   string    `json:"health_check_id"`
	DNSSECEnabled   bool      `json:"dnssec_enabled"`
	Enabled         bool      `json:"enabled"`
	Description     string    `json:"description"`
	Tags            []string  `json:"tags"` // in the order in which they were given
	BackendCount    int       `json:"backend_count"`
	HealthyBackends int       `json:"healthy_backends"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
	Source          string    `json:"source"`            // config or api
	Overlay         *Overlay  `json:"overlay,omitempty"` // what the API has laid over one of the configuration
	// Settings are set in the detail view only.
	Settings *DomainSettings `json:"settings,omitempty"`
}

// DomainHTTPS has the parameters of the HTTPS records of a domain beside addresses (RFC 9460).
type DomainHTTPS struct {
	ALPN []string `json:"alpn"`           // such as h2 and h3; none: no HTTPS records
	Port int      `json:"port,omitempty"` // 0: 443
	ECH  string   `json:"ech,omitempty"`  // ECHConfigList in base64
}

// DomainSettings are the routing details of a domain.
type DomainSettings struct {
	GeoRoutingEnabled   bool   `json:"geo_routing_enabled"`
	FailoverEnabled     bool   `json:"failover_enabled"`
	FailoverThreshold   int    `json:"failover_threshold"`
	LoadBalancingMethod string `json:"load_balancing_method"`
}

// DomainList is the answer of GET /api/v1/domains.
type DomainList struct {
	Domains     []Domain  `json:"domains"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// DomainDetail is the answer of GET /api/v1/domains/{name}.
type DomainDetail struct {
	Domain Domain `json:"domain"`
}

// DomainBackend is one backend of a domain; ID is "<domain>:<address>:<port>".
type DomainBackend struct {
	ID        string     `json:"id"`
	Address   string     `json:"address"`
	Port      int        `json:"port"`
	Weight    int        `json:"weight"`
	Priority  int        `json:"priority"` // place of its region in the domain's order, from 1
	Region    string     `json:"region"`
	Healthy   bool       `json:"healthy"`
	Enabled   bool       `json:"enabled"`    // takes traffic when healthy: a weight above 0 and no drain
	LastCheck *time.Time `json:"last_check"` // null: never checked
}

// DomainBackendList is the answer of GET /api/v1/domains/{name}/backends.
type DomainBackendList struct {
	Backends    []DomainBackend `json:"backends"`
	Total       int             `json:"total"`
	GeneratedAt time.Time       `json:"generated_at"`
}

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
	ClientHashIPv4Prefix *int `json:"client_hash_ipv4_prefix,omitempty"`
	ClientHashIPv6Prefix *int `json:"client_hash_ipv6_prefix,omitempty"`
	// Answer is address, or cname for the host names of its servers, which then all need one. New domains have address.
	Answer *string `json:"answer,omitempty"`
	// HTTPS replaces what the HTTPS records say, SRV the services with SRV records. Without an alpn, or
	// with an empty list, there are none.
	HTTPS *DomainHTTPS `json:"https,omitempty"`
	SRV   *[]string    `json:"srv,omitempty"`
	// DNSSECEnabled is false for a name whose answers are not signed although the node signs. All that is
	// in one zone must be the same. New domains are as overwatch.dnssec.enabled says.
	DNSSECEnabled *bool     `json:"dnssec_enabled,omitempty"`
	Enabled       *bool     `json:"enabled,omitempty"` // new: true
	Description   *string   `json:"description,omitempty"`
	Regions       *[]string `json:"regions,omitempty"` // configured regions, in order of preference
	Tags          *[]string `json:"tags,omitempty"`    // for people and filters; all of them anew
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
