package config

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/logging"
)

// Defaults of the keys: the specification's reference values where it has one.
const (
	DefaultDataDir = "/var/lib/gslb"

	DefaultBindAddress    = "0.0.0.0:7946"
	DefaultProbeInterval  = time.Second
	DefaultProbeTimeout   = 500 * time.Millisecond
	DefaultGossipInterval = 200 * time.Millisecond

	DefaultValidationEnabled = true
	DefaultCheckInterval     = 30 * time.Second
	DefaultCheckTimeout      = 5 * time.Second
	DefaultStaleThreshold    = 30 * time.Second
	DefaultRemoveAfter       = 5 * time.Minute

	DefaultDNSSECEnabled   = true
	DefaultDNSSECAlgorithm = "ECDSAP256SHA256" // algorithm 13
	DefaultDenial          = DenialNSEC
	DefaultPollInterval    = time.Hour
	DefaultSyncTimeout     = 30 * time.Second

	DefaultListenAddress = ":53"
	DefaultTTL           = 30 // seconds

	DefaultResponsesPerSecond = 1000
	DefaultSlip               = 2

	DefaultWeight            = 100
	DefaultRoutingAlgorithm  = policy.DefaultAlgorithm
	DefaultMaxAnswers        = 1
	DefaultFailoverThreshold = 1
	DefaultSmoothingFactor   = 0.3
	DefaultMaxLatencyMs      = 500
	DefaultMinSamples        = 3
	DefaultToleranceKm       = 100
	DefaultIPv4Prefix        = 24
	DefaultIPv6Prefix        = 56

	DefaultMetricsAddress = "127.0.0.1:9090"

	DefaultAPIAddress     = "127.0.0.1:8080"
	DefaultMaxConnections = 256
	DefaultCORSMaxAge     = 86400 // seconds

	DefaultDecisionSample = 128

	DefaultAuditRetention = 90 * 24 * time.Hour
)

// Kinds of authenticated denial of existence.
const (
	DenialNSEC  = "nsec"
	DenialNSEC3 = "nsec3"
)

// Default returns the configuration of a file that says nothing.
func Default() *Config {
	return &Config{
		DataDir: DefaultDataDir,
		Overwatch: Overwatch{
			Gossip: Gossip{
				BindAddress: DefaultBindAddress, ProbeInterval: DefaultProbeInterval,
				ProbeTimeout: DefaultProbeTimeout, GossipInterval: DefaultGossipInterval,
			},
			Validation: Validation{Enabled: DefaultValidationEnabled, CheckInterval: DefaultCheckInterval, CheckTimeout: DefaultCheckTimeout},
			Stale:      Stale{Threshold: DefaultStaleThreshold, RemoveAfter: DefaultRemoveAfter},
			DNSSEC: DNSSEC{
				Enabled: DefaultDNSSECEnabled, Algorithm: DefaultDNSSECAlgorithm, Denial: DefaultDenial,
				KeySync: KeySync{PollInterval: DefaultPollInterval, Timeout: DefaultSyncTimeout},
			},
		},
		DNS: DNS{
			ListenAddress: []string{DefaultListenAddress}, DefaultTTL: DefaultTTL,
			RateLimit: RateLimit{ResponsesPerSecond: DefaultResponsesPerSecond, Slip: DefaultSlip},
		},
		Logging: logging.Config{Level: logging.DefaultLevel, Format: logging.DefaultFormat},
		Audit:   Audit{Retention: DefaultAuditRetention},
		Routing: Routing{
			DecisionSample: DefaultDecisionSample,
			WhyNetworks:    []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		},
		Metrics: Metrics{Address: DefaultMetricsAddress},
		API: API{
			Address: DefaultAPIAddress, MaxConnections: DefaultMaxConnections,
			AllowedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")},
			CORS: CORS{
				AllowedOrigins: []string{"*"},
				AllowedMethods: []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"},
				AllowedHeaders: []string{"Accept", "Authorization", "Content-Type", "X-Requested-With"},
				MaxAge:         DefaultCORSMaxAge,
			},
		},
	}
}

// SetDefaults gives a server what it has unless its keys say otherwise.
func (s *Server) SetDefaults() { s.Weight = DefaultWeight }

// SetDefaults gives a domain what it has unless its keys say otherwise.
func (d *Domain) SetDefaults() {
	d.RoutingAlgorithm = DefaultRoutingAlgorithm
	d.MaxAnswers = DefaultMaxAnswers
	d.FailoverThreshold = DefaultFailoverThreshold
	d.LatencyConfig = LatencyConfig{
		SmoothingFactor: DefaultSmoothingFactor, MaxLatencyMs: DefaultMaxLatencyMs, MinSamples: DefaultMinSamples,
	}
	d.Proximity.ToleranceKm = DefaultToleranceKm
	d.ClientHash = ClientHash{IPv4Prefix: DefaultIPv4Prefix, IPv6Prefix: DefaultIPv6Prefix}
}

// UnmarshalText reads a zone that is given by its name alone.
func (z *Zone) UnmarshalText(text []byte) error {
	z.Name = string(text)
	return nil
}
