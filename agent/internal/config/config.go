// Package config is the configuration of an agent: its keys, their defaults and what they may be. It reads files
// and nothing else: no network, no clock. A *Config is never changed after Load returned it, so it may be read from
// any goroutine.
package config

import (
	"net/netip"
	"time"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/settings/healthcheck"
)

// Mode is the value of the key `mode` in an agent's configuration.
const Mode = "agent"

// Config is one agent's configuration; its fields mirror the keys of the files.
type Config struct {
	Mode    string         `key:"mode" reload:"silent"`
	DataDir string         `key:"data_dir" reload:"restart"`
	Agent   Agent          `key:"agent"`
	Logging logging.Config `key:"logging" reload:"restart"`
	Metrics Metrics        `key:"metrics" reload:"restart"`

	warnings []string
}

// Agent is who the agent is, what it watches and whom it tells.
type Agent struct {
	Identity   Identity   `key:"identity"`
	DataDir    string     `key:"data_dir" reload:"silent"` // moved to Config.DataDir by Load
	Backends   []Backend  `key:"backends" reload:"live"`
	Predictive Predictive `key:"predictive" reload:"restart"`
	Gossip     Gossip     `key:"gossip" reload:"restart"`
	Heartbeat  Heartbeat  `key:"heartbeat" reload:"restart"`
	// DrainTime is over which time traffic is led away before the agent stops; 0 means not at all.
	DrainTime time.Duration `key:"drain_time" reload:"restart"`
}

// Identity says who the agent is and what proves it.
type Identity struct {
	ServiceToken  settings.Secret            `key:"service_token" reload:"live"`  // for every service without its own
	ServiceTokens map[string]settings.Secret `key:"service_tokens" reload:"live"` // service to token
	Region        string                     `key:"region" reload:"restart"`
	AgentID       string                     `key:"agent_id" reload:"restart"` // default: made of region, host name and data directory
}

// Backend is one thing the agent watches.
type Backend struct {
	Service     string       `key:"service"`
	Address     netip.Addr   `key:"address"`
	Port        uint16       `key:"port"`
	Weight      int          `key:"weight"`
	HealthCheck *HealthCheck `key:"health_check"`
}

// HealthCheck is how a backend is probed.
type HealthCheck = healthcheck.Block

// Predictive is the early warning before checks fail.
type Predictive struct {
	Enabled       bool          `key:"enabled"`
	CheckInterval time.Duration `key:"check_interval"`
	CPU           Resource      `key:"cpu"`
	Memory        Resource      `key:"memory"`
	ErrorRate     ErrorRate     `key:"error_rate"`
}

// Resource is the threshold of one resource of the host.
type Resource struct {
	Threshold     float64       `key:"threshold"` // percent
	BleedDuration time.Duration `key:"bleed_duration"`
}

// ErrorRate is the threshold of failing checks, or of the errors that the application itself counts.
type ErrorRate struct {
	Threshold     float64       `key:"threshold"` // errors per minute
	Window        time.Duration `key:"window"`
	BleedDuration time.Duration `key:"bleed_duration"`
	Source        ErrorSource   `key:"source"`
}

// ErrorSource is where the application tells its errors. Either Metric or Field is given.
type ErrorSource struct {
	URL     string            `key:"url"`
	Metric  string            `key:"metric"` // in Prometheus' text format
	Labels  map[string]string `key:"labels"` // of Metric: RE2, for the whole value
	Field   string            `key:"field"`  // in a JSON document: names with dots between
	Kind    string            `key:"kind"`   // counter or rate
	Timeout time.Duration     `key:"timeout"`
}

// Gossip is how the overwatch nodes are reached.
type Gossip struct {
	EncryptionKey          settings.Secret   `key:"encryption_key"`
	PreviousEncryptionKeys []settings.Secret `key:"previous_encryption_keys"` // still understood while the key changes
	OverwatchNodes         []string          `key:"overwatch_nodes"`          // host:port
}

// Heartbeat is how often the agent reports its whole state.
type Heartbeat struct {
	Interval        time.Duration `key:"interval"`
	MissedThreshold int           `key:"missed_threshold"`
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	Enabled bool   `key:"enabled"`
	Address string `key:"address"`
}
