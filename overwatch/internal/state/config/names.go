package config

import (
	"net/netip"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/settings/healthcheck"
)

// DNS is what is served and where.
type DNS struct {
	ListenAddress     []string  `key:"listen_address,single" reload:"restart"` // one address or a list
	DefaultTTL        int       `key:"default_ttl" reload:"live"`              // seconds
	ReturnLastHealthy bool      `key:"return_last_healthy" reload:"live"`
	NSID              string    `key:"nsid" reload:"restart"` // told to who asks which server this is; empty: nothing
	RateLimit         RateLimit `key:"rate_limit" reload:"restart"`
	Zones             []Zone    `key:"zones" reload:"live"`
}

// RateLimit bounds identical answers over UDP to one client network.
type RateLimit struct {
	ResponsesPerSecond int            `key:"responses_per_second"` // 0: any number
	Slip               int            `key:"slip"`                 // every slip-th of the others is truncated instead of dropped; 0: none
	ExemptCIDRs        []netip.Prefix `key:"exempt_cidrs"`
}

// Zone is one zone this node is authoritative for: in the file either its name alone or all of its keys.
type Zone struct {
	Name        string   `key:"name"`
	Nameservers []string `key:"nameservers"`
	Admin       string   `key:"admin"`   // mail address or domain name form, for the SOA
	Records     []string `key:"records"` // lines of a zone file
}

// Region is a place with servers in it, and which clients it is near to.
type Region struct {
	Name             string       `key:"name"`
	Countries        []string     `key:"countries"`  // ISO 3166-1 alpha-2, upper case
	Continents       []string     `key:"continents"` // AF AN AS EU NA OC SA
	Latitude         *float64     `key:"latitude"`
	Longitude        *float64     `key:"longitude"`
	RoutingAlgorithm string       `key:"routing_algorithm"` // inside it, where the domain's chooses the region; empty: weighted
	ProximityBias    int          `key:"proximity_bias"`
	Servers          []Server     `key:"servers"`
	HealthCheck      *HealthCheck `key:"health_check"` // for servers without their own
}

// Server is a backend that the configuration declares.
type Server struct {
	Address     netip.Addr   `key:"address"`
	Port        uint16       `key:"port"`
	Weight      int          `key:"weight"`
	Service     string       `key:"service"` // the domain it belongs to; empty: every domain that lists the region
	Host        string       `key:"host"`    // Host header of its http checks
	Agent       string       `key:"agent"`   // id of the agent whose own it is; empty: of none
	HealthCheck *HealthCheck `key:"health_check"`
}

// Domain is one name whose answers are steered.
type Domain struct {
	Name              string        `key:"name"`
	RoutingAlgorithm  string        `key:"routing_algorithm"`
	Regions           []string      `key:"regions"`
	TTL               int           `key:"ttl"` // seconds; 0: dns.default_ttl
	MaxAnswers        int           `key:"max_answers"`
	OnAllDown         string        `key:"on_all_down"` // servfail, last_healthy, all; empty: as dns.return_last_healthy says
	MinHealthy        string        `key:"min_healthy"` // policy.ParseMinimum; empty: no minimum
	FailoverThreshold int           `key:"failover_threshold"`
	FallbackAlgorithm string        `key:"fallback_algorithm"` // where the first lacks data; empty: what that one does by itself
	LatencyConfig     LatencyConfig `key:"latency_config"`
	Proximity         Proximity     `key:"proximity"`
	ClientHash        ClientHash    `key:"client_hash"`
}

// Uses reports whether something holds for the domain's algorithm or its fallback, as far as there are such.
func (d *Domain) Uses(holds func(*policy.Algorithm) bool) bool {
	for _, name := range []string{d.RoutingAlgorithm, d.FallbackAlgorithm} {
		if a := policy.Named(name); a != nil && holds(a) {
			return true
		}
	}
	return false
}

// Proximity tunes routing by distance.
type Proximity struct {
	ToleranceKm float64 `key:"tolerance_km"`
}

// ClientHash tunes client-hash: how many leading bits of its address make a client's network.
type ClientHash struct {
	IPv4Prefix int `key:"ipv4_prefix"`
	IPv6Prefix int `key:"ipv6_prefix"`
}

// LatencyConfig tunes routing by latency.
type LatencyConfig struct {
	SmoothingFactor float64 `key:"smoothing_factor"`
	MaxLatencyMs    int     `key:"max_latency_ms"`
	MinSamples      int     `key:"min_samples"`
}

// HealthCheck is how a backend is probed.
type HealthCheck = healthcheck.Block
