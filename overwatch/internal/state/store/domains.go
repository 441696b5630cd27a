package store

import "time"

// Domain is a steered name that the API created.
type Domain struct {
	Name              string `json:"name"`
	TTL               int    `json:"ttl"` // seconds; 0: the node's default
	RoutingPolicy     string `json:"routing_policy"`
	FallbackAlgorithm string `json:"fallback_algorithm,omitempty"` // empty: none
	// as policy.ParseMinimum reads it; empty: no minimum
	MinHealthy  string    `json:"min_healthy,omitempty"`
	Tolerance   *float64  `json:"proximity_tolerance_km,omitempty"`  // nil, as the next two: the default
	IPv4Prefix  *int      `json:"client_hash_ipv4_prefix,omitempty"` // bits
	IPv6Prefix  *int      `json:"client_hash_ipv6_prefix,omitempty"`
	Regions     []string  `json:"regions"`
	Enabled     bool      `json:"enabled"`
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Region is a place that the API created.
type Region struct {
	Name        string    `json:"name"`
	Code        string    `json:"code"`
	Description string    `json:"description"`
	Latitude    *float64  `json:"latitude"` // nil, as the longitude: not known
	Longitude   *float64  `json:"longitude"`
	Continent   string    `json:"continent"` // as in AF AN AS EU NA OC SA; empty: none
	Countries   []string  `json:"countries"` // ISO 3166-1 alpha-2
	Enabled     bool      `json:"enabled"`
	Priority    int       `json:"priority"`
	Pool        string    `json:"routing_algorithm,omitempty"` // inside the region; empty: the domain's
	Bias        int       `json:"proximity_bias,omitempty"`    // percent
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Node is an agent that an operator has announced.
type Node struct {
	ID           string    `json:"id"`
	Address      string    `json:"address"` // empty: not given
	Port         int       `json:"port"`    // 0: not given
	Region       string    `json:"region"`
	Version      string    `json:"version"`
	RegisteredAt time.Time `json:"registered_at"`
}

// Mapping places the clients of one network in a region.
type Mapping struct {
	CIDR    string `json:"cidr"` // canonical: unmapped, with no bit set beyond its length
	Region  string `json:"region"`
	Comment string `json:"comment"`
}
