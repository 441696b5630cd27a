// Package config owns the configuration of an agent: its keys, defaults and bounds. Package agent loads it at the start
// and at each reload. The package only reads files, and never uses the network or a clock. A *Config is immutable after
// Load, so any goroutine may read it. Comments of its fields are the text of the reference page.
package config

import (
	"net/netip"
	"time"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// Mode is the value of the key `mode` in an agent's configuration.
const Mode = "agent"

// Config is the configuration of an agent. Its fields mirror the keys of the files.
type Config struct {
	// Required: `agent`. The launcher `gslb` reads this key only from the file of `--config`, and not from included files.
	Mode string `key:"mode" reload:"silent"`
	// The directory of the agent's certificate and key. Each agent requires a separate directory. The package's service
	// can only write to `/var/lib/gslb-agent`.
	DataDir string         `key:"data_dir" default:"/var/lib/gslb" reload:"restart"`
	Agent   Agent          `key:"agent"`
	Logging logging.Config `key:"logging" reload:"restart"`
	Metrics Metrics        `key:"metrics" reload:"restart"`

	warnings []string
}

// Agent has the keys below `agent`.
type Agent struct {
	Identity Identity `key:"identity"`
	// Alias of the top-level `data_dir`. Set only one of the two.
	DataDir string `key:"data_dir" reload:"silent"`
	// The backends that the agent checks. Required, unless `backends_from` is set.
	Backends []Backend `key:"backends" reload:"live"`
	// Files with additional backends. The agent checks the files for changes twice per second.
	BackendsFrom []BackendsFrom `key:"backends_from" reload:"live"`
	Resolver     Resolver       `key:"resolver" reload:"restart"`
	Predictive   Predictive     `key:"predictive" reload:"restart"`
	Gossip       Gossip         `key:"gossip" reload:"restart"`
	Heartbeat    Heartbeat      `key:"heartbeat" reload:"restart"`
	// The duration of the drain after SIGTERM or SIGINT. During the drain, overwatch nodes reduce the share of the agent's
	// backends linearly to zero; then the agent deregisters and stops. The default equals the default TTL of answers. If
	// the TTL of your domains is longer, set this key to that TTL. `0s` deregisters without a drain. A second signal, or
	// the loss of all overwatch nodes, ends the drain.
	DrainTime time.Duration `key:"drain_time" default:"30s" min:"0s" max:"24h" reload:"restart"`
	// The signals after which a stopping agent drains its backends. `auto`: SIGTERM and SIGINT, because the backends also
	// stop or are no longer reported. SIGUSR2, which the package's service sends for a restart or an upgrade, then stops
	// the agent without a drain. `always`: SIGTERM, SIGINT and SIGUSR2. `never`: no signal.
	DrainOnStop DrainOnStop `key:"drain_on_stop" default:"auto" reload:"restart"`
}

// DrainOnStop is the condition under which a stopping agent drains its backends.
type DrainOnStop string

// The values of agent.drain_on_stop.
const (
	DrainAuto   DrainOnStop = "auto"
	DrainAlways DrainOnStop = "always"
	DrainNever  DrainOnStop = "never"
)

// Identity contains the agent's name and region, and the tokens that prove its services.
type Identity struct {
	// The token of all services without an entry in `service_tokens`. It must equal the token of the service in
	// `agent_tokens` of the overwatch nodes.
	ServiceToken settings.Secret `key:"service_token" reload:"live"`
	// Tokens by service name, for an agent with several services.
	ServiceTokens map[string]settings.Secret `key:"service_tokens" reload:"live"`
	// The region of the backends. Required.
	Region string `key:"region" reload:"restart"`
	// The unique name of the agent: letters, digits, hyphens, underscores, dots; at most 128 characters. Default: region
	// and host name, followed by a hash of `data_dir` if `data_dir` differs from its default.
	AgentID string `key:"agent_id" reload:"restart"`
}

// Backend is an address and port that the agent checks, or a host name with several addresses.
type Backend struct {
	// The domain that the backend serves. Required.
	Service string `key:"service"`
	// The IPv4 or IPv6 address of the backend for clients. Required, unless `target` is set.
	Address netip.Addr `key:"address"`
	// A host name instead of `address`, such as `app-1234.eu.example.net`. Each of its addresses (at most 32) is a
	// separate backend, and the backends share `weight` equally. Supported in `backends`, not in files.
	Target string `key:"target"`
	// The port of the backend, 1 to 65535. Required.
	Port uint16 `key:"port"`
	// The weight of the backend relative to other backends of the service, 1 to 1000.
	Weight int `key:"weight" default:"100"`
	// The health check of the backend. Required.
	HealthCheck *HealthCheck `key:"health_check"`
}

// Resolver contains the DNS resolvers for the addresses of a `target`, and the bounds of the time between two queries.
type Resolver struct {
	// The addresses and ports of DNS resolvers. The agent queries them in this order until one answers. At most 8.
	// Default: the resolvers of the machine.
	Servers []netip.AddrPort `key:"servers"`
	// The minimum time between two queries for a target. It applies if the TTL of the records is shorter. `min_ttl` must
	// not be greater than `max_ttl`.
	MinTTL time.Duration `key:"min_ttl" default:"5s" min:"1s" max:"24h"`
	// The maximum time between two queries for a target. It applies if the TTL of the records is longer.
	MaxTTL time.Duration `key:"max_ttl" default:"5m" min:"1s" max:"24h"`
}

// BackendsFrom defines files with backends, and defaults for their entries.
type BackendsFrom struct {
	// A path or a pattern (`*`, `?`, `[a-z]`), such as `/etc/gslb/backends.d/*.yaml`. A relative path starts at the
	// working directory of the agent. Files with the extension `.json` are JSON, all others are YAML. Required.
	File string `key:"file"`
	// The service of entries without `service`.
	Service string `key:"service"`
	// The health check of entries without `health_check`. Entries with `targets` always use this health check.
	HealthCheck *HealthCheck `key:"health_check"`
}

// HealthCheck is the block of keys that defines a backend's health check.
type HealthCheck = model.HealthCheck

// Predictive contains the early warnings, which reduce traffic before checks fail.
type Predictive struct {
	// Whether the agent sends early warnings, which reduce the traffic of its backends before checks fail.
	Enabled bool `key:"enabled"`
	// The interval between two measurements.
	CheckInterval time.Duration `key:"check_interval" default:"10s" min:"1s" max:"1h"`
	CPU           CPU           `key:"cpu"`
	Memory        Memory        `key:"memory"`
	ErrorRate     ErrorRate     `key:"error_rate"`
}

// CPU is the threshold of the CPU usage.
type CPU struct {
	// CPU usage in percent, above 0 and up to 100: of the container's limit if it has one, otherwise of the host.
	Threshold float64 `key:"threshold" default:"85"`
	// The time in which the traffic of the backends falls after the threshold is exceeded.
	BleedDuration time.Duration `key:"bleed_duration" default:"30s" min:"1s" max:"1h"`
}

// Memory is the threshold of the memory usage.
type Memory struct {
	// Memory usage in percent, above 0 and up to 100: of the container's limit if it has one, otherwise of the host.
	Threshold float64 `key:"threshold" default:"90"`
	// The time in which the traffic of the backends falls after the threshold is exceeded.
	BleedDuration time.Duration `key:"bleed_duration" default:"30s" min:"1s" max:"1h"`
}

// ErrorRate is the threshold of the failed checks, or of the errors that the application counts.
type ErrorRate struct {
	// The number of failed checks of a backend per minute. With `source`: the errors of the application per minute.
	Threshold float64 `key:"threshold" default:"10"`
	// The time window of the count, at least `check_interval`.
	Window time.Duration `key:"window" default:"1m" max:"1h"`
	// The time in which the traffic of the backends falls after the threshold is exceeded.
	BleedDuration time.Duration `key:"bleed_duration" default:"1m" min:"1s" max:"1h"`
	Source        ErrorSource   `key:"source"`
}

// ErrorSource is a URL of the application and the number in its response that counts errors. With a URL, exactly one of
// Metric and Field is set.
type ErrorSource struct {
	// The http or https URL with the error count of the application. The error count replaces failed checks for all
	// backends of the agent. The agent sends a request every `check_interval`. The response must have status 200 and at
	// most 8 MiB.
	URL string `key:"url"`
	// The name of the metric with the error count, if the response is in the Prometheus text format: a counter, a gauge,
	// or the name of a histogram with `_count`. With `url`, set either `metric` or `field`.
	Metric string `key:"metric"`
	// Labels that select the series of the metric: label name to a regular expression (RE2) that must match the whole
	// value, such as `{code: "5.."}`. The agent adds up the matching series; without a matching series, the error count is
	// 0.
	Labels map[string]string `key:"labels"`
	// The path of the error count, if the response is JSON: names separated by dots, such as `errors.total`.
	Field string `key:"field"`
	// `counter`: the total number of errors; the agent uses its growth within `window`, and treats a lower number as a
	// restart of the application. `rate`: the number of errors per minute.
	Kind string `key:"kind" default:"counter"`
	// The timeout of a request: 10ms up to `check_interval`.
	Timeout time.Duration `key:"timeout" default:"2s"`
}

// Gossip contains the addresses of the overwatch nodes and the keys that encrypt messages to them.
type Gossip struct {
	// The gossip key: 32 octets in base64, the same as on the overwatch nodes. Required.
	EncryptionKey settings.Secret `key:"encryption_key"`
	// Previous gossip keys that the agent accepts during a change of `encryption_key`.
	PreviousEncryptionKeys []settings.Secret `key:"previous_encryption_keys"`
	// The overwatch nodes as `host:port`. Required.
	OverwatchNodes []string `key:"overwatch_nodes" reload:"live"`
}

// Heartbeat contains the interval of the agent's full reports, and the number of missing reports after which it is
// lost.
type Heartbeat struct {
	// The interval of full reports. The agent reports changes immediately.
	Interval time.Duration `key:"interval" default:"10s" min:"100ms" max:"1h"`
	// The number of missing reports after which the agent is treated as lost.
	MissedThreshold int `key:"missed_threshold" default:"3" min:"1" max:"1000"`
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	// Whether the agent serves Prometheus metrics at `/metrics`.
	Enabled bool `key:"enabled"`
	// The address and port of the metrics. `0.0.0.0` is all IPv4 addresses. `[::]`, or an empty host, is all IPv4 and IPv6
	// addresses.
	Address string `key:"address" default:"127.0.0.1:9100"`
}
