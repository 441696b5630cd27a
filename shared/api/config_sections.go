package api

import "time"

// DNSConfig are the settings of DNS answers. Changes by PUT take effect immediately unless the answer
// names them in restart_required. Fields not marked as changeable are read-only.
type DNSConfig struct {
	ListenAddress     []string `json:"listen_address"`
	EnableTCP         bool     `json:"enable_tcp"`
	EnableUDP         bool     `json:"enable_udp"`
	MaxUDPSize        int      `json:"max_udp_size"`        // octets; can be changed
	DefaultTTL        int      `json:"default_ttl"`         // seconds; can be changed
	MinTTL            int      `json:"min_ttl"`             // seconds; can be changed
	MaxTTL            int      `json:"max_ttl"`             // seconds; can be changed
	NegativeTTL       int      `json:"negative_ttl"`        // seconds; can be changed
	RateLimitEnabled  bool     `json:"rate_limit_enabled"`  // can be changed
	RateLimitQPS      int      `json:"rate_limit_qps"`      // answers per second; can be changed
	ReturnLastHealthy bool     `json:"return_last_healthy"` // can be changed
	Zones             []string `json:"zones"`               // can be changed
}

// HealthCheckConfig are the settings of the node's own checks.
type HealthCheckConfig struct {
	ValidationEnabled      bool    `json:"validation_enabled"`       // can be changed
	DefaultIntervalSeconds float64 `json:"default_interval_seconds"` // can be changed
	DefaultTimeoutSeconds  float64 `json:"default_timeout_seconds"`  // can be changed
	// HealthyThreshold and UnhealthyThreshold apply to servers without their own health check.
	HealthyThreshold    int    `json:"healthy_threshold"`     // can be changed
	UnhealthyThreshold  int    `json:"unhealthy_threshold"`   // can be changed
	MaxConcurrentChecks int    `json:"max_concurrent_checks"` // can be changed
	DefaultProtocol     string `json:"default_protocol"`
	HTTPFollowRedirects bool   `json:"http_follow_redirects"`
}

// LoggingConfig are the settings of the log.
type LoggingConfig struct {
	Level  string `json:"level"`  // debug, info, warn or error
	Format string `json:"format"` // auto, json or console
}

// ConfigState is the origin of the settings of a section. The section has the settings that take effect now or at the
// next start.
type ConfigState struct {
	// Overlay lists the settings that were changed through the API and differ from the file.
	Overlay []string `json:"overlay"`
	// RestartRequired lists the configuration keys with a new value that takes effect with the next start.
	RestartRequired []string `json:"restart_required"`
}

// DNSConfigAnswer is the answer of GET, PUT and PATCH /api/v1/config/dns.
type DNSConfigAnswer struct {
	Config DNSConfig `json:"config"`
	ConfigState
}

// HealthCheckConfigAnswer is the answer of GET, PUT and PATCH
// /api/v1/config/health-check.
type HealthCheckConfigAnswer struct {
	Config HealthCheckConfig `json:"config"`
	ConfigState
}

// LoggingConfigAnswer is the answer of GET, PUT and PATCH
// /api/v1/config/logging.
type LoggingConfigAnswer struct {
	Config LoggingConfig `json:"config"`
	ConfigState
}

// DNSConfigChange is the body of PUT and PATCH /api/v1/config/dns. PUT sets omitted fields to the value of the file;
// PATCH retains their values. The body may also have read-only fields of DNSConfig with their current values.
type DNSConfigChange struct {
	MaxUDPSize        *int      `json:"max_udp_size,omitempty"` // octets, 512 to 4096
	DefaultTTL        *int      `json:"default_ttl,omitempty"`  // seconds
	MinTTL            *int      `json:"min_ttl,omitempty"`      // seconds
	MaxTTL            *int      `json:"max_ttl,omitempty"`      // seconds
	NegativeTTL       *int      `json:"negative_ttl,omitempty"` // seconds, at most a day
	ReturnLastHealthy *bool     `json:"return_last_healthy,omitempty"`
	RateLimitEnabled  *bool     `json:"rate_limit_enabled,omitempty"`
	RateLimitQPS      *int      `json:"rate_limit_qps,omitempty"` // answers per second
	Zones             *[]string `json:"zones,omitempty"`
}

// HealthCheckConfigChange is the body of PUT and PATCH /api/v1/config/health-check, with the rules of DNSConfigChange.
type HealthCheckConfigChange struct {
	ValidationEnabled      *bool    `json:"validation_enabled,omitempty"`
	DefaultIntervalSeconds *float64 `json:"default_interval_seconds,omitempty"`
	DefaultTimeoutSeconds  *float64 `json:"default_timeout_seconds,omitempty"`
	HealthyThreshold       *int     `json:"healthy_threshold,omitempty"`
	UnhealthyThreshold     *int     `json:"unhealthy_threshold,omitempty"`
	MaxConcurrentChecks    *int     `json:"max_concurrent_checks,omitempty"`
}

// LoggingConfigChange is the body of PUT and PATCH /api/v1/config/logging, with the rules of DNSConfigChange.
type LoggingConfigChange struct {
	Level  *string `json:"level,omitempty"`  // debug, info, warn or error
	Format *string `json:"format,omitempty"` // auto, json or console
}

// GossipConfigChange is the body of PUT and PATCH /api/v1/gossip/config, with the rules of DNSConfigChange. All fields
// except ClusterName take effect at the next start.
type GossipConfigChange struct {
	GossipIntervalMS *int      `json:"gossip_interval_ms,omitempty"`
	ProbeIntervalMS  *int      `json:"probe_interval_ms,omitempty"`
	ProbeTimeoutMS   *int      `json:"probe_timeout_ms,omitempty"`
	Seeds            *[]string `json:"seeds,omitempty"`        // host:port
	ClusterName      *string   `json:"cluster_name,omitempty"` // for people; empty: none; takes effect immediately
}

// SystemConfig is the node's identity, build and configuration file.
type SystemConfig struct {
	Version    string    `json:"version"`
	BuildInfo  BuildInfo `json:"build_info"`
	Mode       string    `json:"mode"`
	NodeID     string    `json:"node_id"`
	NodeName   string    `json:"node_name"`
	Region     string    `json:"region"`
	Features   []string  `json:"features"`
	StartTime  time.Time `json:"start_time"`
	ConfigPath string    `json:"config_path"`
	DataDir    string    `json:"data_dir"`
}

// BuildInfo is the origin of the program: version, commit, date and platform.
type BuildInfo struct {
	GoVersion string `json:"go_version"`
	GitCommit string `json:"git_commit"`
	BuildDate string `json:"build_date"`
	Platform  string `json:"platform"` // operating system and architecture
}

// SystemConfigAnswer is the answer of GET /api/v1/config/system.
type SystemConfigAnswer struct {
	Config SystemConfig `json:"config"`
}

// ConfigValidation is the answer of POST /api/v1/config/validate.
type ConfigValidation struct {
	Valid  bool          `json:"valid"`
	Errors []ConfigError `json:"errors"`
}

// ConfigError is a problem of a configuration.
type ConfigError struct {
	Line    int    `json:"line"` // 0: unknown line
	Key     string `json:"key"`  // empty: the whole text
	Value   string `json:"value"`
	Message string `json:"message"`
}

// GossipConfig are a node's gossip settings, without its keys.
type GossipConfig struct {
	Enabled           bool     `json:"enabled"`
	BindAddress       string   `json:"bind_address"`
	BindPort          int      `json:"bind_port"`
	ClusterName       string   `json:"cluster_name"` // for people; empty: none
	EncryptionEnabled bool     `json:"encryption_enabled"`
	GossipIntervalMS  int      `json:"gossip_interval_ms"`
	ProbeIntervalMS   int      `json:"probe_interval_ms"`
	ProbeTimeoutMS    int      `json:"probe_timeout_ms"`
	Seeds             []string `json:"seeds"` // host:port
}

// GossipSettings is the answer of GET /api/v1/gossip/config.
type GossipSettings struct {
	Config GossipConfig `json:"config"`
	ConfigState
}
