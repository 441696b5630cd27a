// Package config owns the configuration of an agent: its keys, defaults and bounds. Package agent
// loads it at the start and at each reload. It reads files only: no network, no clock. A *Config is
// never changed after Load has returned it, so any goroutine may read it.
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
	// `agent`. Required; the launcher `gslb` reads it from the file given with `--config`, not from an included one.
	Mode string `key:"mode" reload:"silent"`
	// The directory of the agent's certificate and key. Each agent needs its own. The package's service can write to
	// `/var/lib/gslb-agent` only.
	DataDir string         `key:"data_dir" default:"/var/lib/gslb" reload:"restart"`
	Agent   Agent          `key:"agent"`
	Logging logging.Config `key:"logging" reload:"restart"`
	Metrics Metrics        `key:"metrics" reload:"restart"`

	warnings []string
}

// Agent has the keys below `agent`.
type Agent struct {
	Identity Identity `key:"identity"`
	// The same, in another place; only one of the two may be given.
	DataDir string `key:"data_dir" reload:"silent"`
	// The backends that the agent checks. Required, unless `backends_from` is set.
	Backends []Backend `key:"backends" reload:"live"`
	// Files that say what else the agent watches. They are looked at twice a second.
	BackendsFrom []BackendsFrom `key:"backends_from" reload:"live"`
	Resolver     Resolver       `key:"resolver" reload:"restart"`
	Predictive   Predictive     `key:"predictive" reload:"restart"`
	Gossip       Gossip         `key:"gossip" reload:"restart"`
	Heartbeat    Heartbeat      `key:"heartbeat" reload:"restart"`
	// Over which time overwatch nodes lead traffic away after SIGTERM or SIGINT before the agent says goodbye and
	// stops: the backends' shares fall linearly to zero. The default is the default TTL of answers; give the TTL of
	// your domains where it is longer. `0s`: goodbye without a drain. A second signal ends the drain, as does having no
	// overwatch node to lead traffic away.
	DrainTime time.Duration `key:"drain_time" default:"30s" min:"0s" max:"24h" reload:"restart"`
	// Whether a stopping agent drains its backends. `auto`: on SIGTERM and SIGINT, since the backends also stop, or
	// nothing reports them afterwards; not on SIGUSR2, which the package's service sends for a restart or an upgrade.
	// `always`: on each of these signals. `never`: on none.
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

// Identity has the agent's name and region, and the tokens that prove its services.
type Identity struct {
	// The token of `agent_tokens` of the overwatch nodes, for every service without its own token.
	ServiceToken settings.Secret `key:"service_token" reload:"live"`
	// Service name to token, for an agent that speaks for several.
	ServiceTokens map[string]settings.Secret `key:"service_tokens" reload:"live"`
	// The region that the backends are in. Required.
	Region string `key:"region" reload:"restart"`
	// The agent's name: letters, digits, hyphens, underscores, dots; at most 128. Default: region and host name, with a
	// hash of `data_dir` behind it where that is not the default.
	AgentID string `key:"agent_id" reload:"restart"`
}

// Backend is an address and port that the agent checks, or a host name with several addresses.
type Backend struct {
	// The domain that the backend serves. Required.
	Service string `key:"service"`
	// Where clients reach the backend, IPv4 or IPv6. Required, or `target`.
	Address netip.Addr `key:"address"`
	// A host name in place of `address`, such as `app-1234.eu.example.net`: each address that it has, 32 at most, is a
	// backend of its own, and they share `weight` equally. Only in `backends`, not in files.
	Target string `key:"target"`
	// 1 to 65535. Required.
	Port uint16 `key:"port"`
	// Share of the answers, relative to the others: 1 to 1000.
	Weight int `key:"weight" default:"100"`
	// How the backend is probed. Required.
	HealthCheck *HealthCheck `key:"health_check"`
}

// Resolver has the DNS resolvers for the addresses of a `target`, and the bounds of the time
// between two questions.
type Resolver struct {
	// The resolvers, addresses with ports, tried in order until one answers. At most 8. Default: the resolvers of the
	// machine.
	Servers []netip.AddrPort `key:"servers"`
	// The shortest time between two questions for a target, whatever the TTL of its records. `min_ttl` must not be greater
	// than `max_ttl`.
	MinTTL time.Duration `key:"min_ttl" default:"5s" min:"1s" max:"24h"`
	// The longest time between two questions for a target, whatever the TTL of its records.
	MaxTTL time.Duration `key:"max_ttl" default:"5m" min:"1s" max:"24h"`
}

// BackendsFrom names files with backends, and has defaults for their entries.
type BackendsFrom struct {
	// A path or a pattern (`*`, `?`, `[a-z]`), such as `/etc/gslb/backends.d/*.yaml`; relative to where the agent was
	// started. Names that end in `.json` are JSON, all others YAML. Required.
	File string `key:"file"`
	// The service of entries without one.
	Service string `key:"service"`
	// The health check of backends without `health_check` in their entry; entries of `targets` never have one.
	HealthCheck *HealthCheck `key:"health_check"`
}

// HealthCheck is the block of keys that defines a backend's health check.
type HealthCheck = model.HealthCheck

// Predictive is the early warning before checks fail.
type Predictive struct {
	// Whether traffic is led away before checks fail.
	Enabled bool `key:"enabled"`
	// How often the thresholds are looked at.
	CheckInterval time.Duration `key:"check_interval" default:"10s" min:"1s" max:"1h"`
	CPU           CPU           `key:"cpu"`
	Memory        Memory        `key:"memory"`
	ErrorRate     ErrorRate     `key:"error_rate"`
}

// CPU is the threshold of the processor's load.
type CPU struct {
	// Percent of the CPU, above 0 and up to 100: of the container's limit if it has one, otherwise of the host.
	Threshold float64 `key:"threshold" default:"85"`
	// Over which time the traffic is reduced.
	BleedDuration time.Duration `key:"bleed_duration" default:"30s" min:"1s" max:"1h"`
}

// Memory is the threshold of the memory in use.
type Memory struct {
	// Percent of the memory, above 0 and up to 100: of the container's limit if it has one, otherwise of the host.
	Threshold float64 `key:"threshold" default:"90"`
	// Over which time the traffic is reduced.
	BleedDuration time.Duration `key:"bleed_duration" default:"30s" min:"1s" max:"1h"`
}

// ErrorRate is the threshold of failing checks, or of the errors that the application itself counts.
type ErrorRate struct {
	// Failed checks of a backend per minute, or errors per minute of the application with `source`.
	Threshold float64 `key:"threshold" default:"10"`
	// Over which time they are counted, at least `check_interval`.
	Window time.Duration `key:"window" default:"1m" max:"1h"`
	// Over which time the traffic is reduced.
	BleedDuration time.Duration `key:"bleed_duration" default:"1m" min:"1s" max:"1h"`
	Source        ErrorSource   `key:"source"`
}

// ErrorSource names a URL of the application and the number there that counts its errors. With a URL, exactly one of
// Metric and Field is set.
type ErrorSource struct {
	// URL of the application's errors, http or https. They replace failed checks, for all
	// backends of the agent. Requested every `check_interval`; the answer has status 200 and at most 8 MiB.
	URL string `key:"url"`
	// The application answers in Prometheus' text format, and this metric counts: a counter, a gauge, or a histogram's
	// name with `_count`. With `url`, this or `field` is required.
	Metric string `key:"metric"`
	// Only series of the metric with matching labels: name to regular expression (RE2) for the whole value, such as
	// `{code: "5.."}`. All that match are added up; none is 0.
	Labels map[string]string `key:"labels"`
	// The application answers in JSON, and this number counts: the names on the way to it with dots between, such as
	// `errors.total`.
	Field string `key:"field"`
	// `counter`: errors since a start; the growth within `window` is used, and a smaller number than the previous is a
	// new start. `rate`: errors per minute, as they are.
	Kind string `key:"kind" default:"counter"`
	// For the whole answer: 10ms up to `check_interval`.
	Timeout time.Duration `key:"timeout" default:"2s"`
}

// Gossip has the addresses of the overwatch nodes and the keys that encrypt messages to them.
type Gossip struct {
	// 32 octets in base64, the same as on the overwatch nodes. Required.
	EncryptionKey settings.Secret `key:"encryption_key"`
	// Keys that are still understood while `encryption_key` changes.
	PreviousEncryptionKeys []settings.Secret `key:"previous_encryption_keys"`
	// `host:port` of every overwatch node. Required.
	OverwatchNodes []string `key:"overwatch_nodes" reload:"live"`
}

// Heartbeat has the interval of the agent's full reports, and the number of missing reports after which it is lost.
type Heartbeat struct {
	// The interval of the agent's full reports; a change is reported immediately.
	Interval time.Duration `key:"interval" default:"10s" min:"100ms" max:"1h"`
	// The number of missing reports after which the agent is treated as lost.
	MissedThreshold int `key:"missed_threshold" default:"3" min:"1" max:"1000"`
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	// Whether Prometheus can read metrics at `/metrics`.
	Enabled bool `key:"enabled"`
	// The address of the metrics. `0.0.0.0` is every IPv4 address; `[::]`, or nothing before the colon, every address of
	// both families.
	Address string `key:"address" default:"127.0.0.1:9100"`
}
