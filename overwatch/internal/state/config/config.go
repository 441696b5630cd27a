// Package config is the configuration of an overwatch node: its keys, their defaults and what they may be.
// It reads files and nothing else: no network, no clock. A *Config is never changed after Load returned it, so it
// may be read from any goroutine.
package config

import (
	"net/netip"
	"time"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
)

// Mode is the value of the key `mode` in an overwatch node's configuration.
const Mode = "overwatch"

// Config is one overwatch node's configuration; its fields mirror the keys of the files.
type Config struct {
	Mode      string         `key:"mode" reload:"silent"`
	DataDir   string         `key:"data_dir" reload:"restart"`
	Overwatch Overwatch      `key:"overwatch"`
	DNS       DNS            `key:"dns"`
	Regions   []Region       `key:"regions" reload:"live"`
	Domains   []Domain       `key:"domains" reload:"live"`
	Logging   logging.Config `key:"logging" reload:"live"`
	Metrics   Metrics        `key:"metrics" reload:"restart"`
	API       API            `key:"api" reload:"restart"`
	Audit     Audit          `key:"audit" reload:"restart"`
	Routing   Routing        `key:"routing"`

	warnings []string
}

// Overwatch is what makes this node a member: who it is, whom it believes, how it checks, signs and locates.
type Overwatch struct {
	Identity            Identity                     `key:"identity" reload:"restart"`
	DataDir             string                       `key:"data_dir" reload:"silent"` // moved to Config.DataDir by Load
	AgentTokens         map[string]settings.Secret   `key:"agent_tokens" reload:"live"`
	PreviousAgentTokens map[string][]settings.Secret `key:"previous_agent_tokens" reload:"live"`
	AgentPolicies       map[string]AgentPolicy       `key:"agent_policies" reload:"live"`
	Gossip              Gossip                       `key:"gossip" reload:"restart"`
	Validation          Validation                   `key:"validation"`
	Stale               Stale                        `key:"stale" reload:"live"`
	DNSSEC              DNSSEC                       `key:"dnssec"`
	Geolocation         Geolocation                  `key:"geolocation"`
}

// Audit is the log of who changed what.
type Audit struct {
	Retention time.Duration `key:"retention"` // how long an entry is kept
}

// Routing is what is kept and told of routing decisions.
type Routing struct {
	DecisionSample int            `key:"decision_sample" reload:"live"` // one query in so many; 0: none
	WhyNetworks    []netip.Prefix `key:"why_networks" reload:"live"`    // whose TXT questions for _why.<name> are answered
}

// Identity says who this node is.
type Identity struct {
	NodeID string `key:"node_id"` // default: the host name
	Region string `key:"region"`
}

// AgentPolicy narrows what agents of one service may claim, and says how their backends are checked.
type AgentPolicy struct {
	AllowedCIDRs []netip.Prefix `key:"allowed_cidrs"`  // where backends may be; empty means anywhere
	MaxAgents    int            `key:"max_agents"`     // 0: the default
	NewPerSecond int            `key:"new_per_second"` // from one source; 0: the default
	HealthCheck  *HealthCheck   `key:"health_check"`   // how the node checks them; nil: as the agent asks, within bounds
}

// Gossip is how agents reach this node.
type Gossip struct {
	BindAddress            string            `key:"bind_address"`
	EncryptionKey          settings.Secret   `key:"encryption_key"`
	PreviousEncryptionKeys []settings.Secret `key:"previous_encryption_keys"`
	ProbeInterval          time.Duration     `key:"probe_interval"`
	ProbeTimeout           time.Duration     `key:"probe_timeout"`
	GossipInterval         time.Duration     `key:"gossip_interval"`
	Seeds                  []string          `key:"seeds"` // host:port of other overwatch nodes
}

// Validation is the node's own checking of backends.
type Validation struct {
	Enabled       bool          `key:"enabled" reload:"restart"`
	CheckInterval time.Duration `key:"check_interval" reload:"live"`
	CheckTimeout  time.Duration `key:"check_timeout" reload:"live"`
}

// Stale is when an agent's silence counts.
type Stale struct {
	Threshold   time.Duration `key:"threshold"`
	RemoveAfter time.Duration `key:"remove_after"`
}

// DNSSEC is signing.
type DNSSEC struct {
	Enabled                bool    `key:"enabled" reload:"restart"`
	Algorithm              string  `key:"algorithm" reload:"silent"`
	SecurityAcknowledgment string  `key:"security_acknowledgment" reload:"silent"` // required when not enabled
	Denial                 string  `key:"denial" reload:"live"`                    // nsec or nsec3
	KeySync                KeySync `key:"key_sync" reload:"live"`
}

// KeySync is the exchange of signing keys with other overwatch nodes.
type KeySync struct {
	Peers        []string        `key:"peers"` // base URLs of the peers' HTTP API
	PollInterval time.Duration   `key:"poll_interval"`
	Timeout      time.Duration   `key:"timeout"`
	Secret       settings.Secret `key:"secret"`
	CA           string          `key:"ca"`          // PEM file: the authorities of the peers' certificates
	Certificate  string          `key:"certificate"` // PEM file, shown to peers that want one
	Key          string          `key:"key"`         // PEM file
}

// Geolocation places clients in regions.
type Geolocation struct {
	DatabasePath   string          `key:"database_path" reload:"live"`
	DefaultRegion  string          `key:"default_region" reload:"live"`
	ECSEnabled     bool            `key:"ecs_enabled" reload:"restart"`
	CustomMappings []CustomMapping `key:"custom_mappings" reload:"live"`
}

// CustomMapping places the clients of one network in a region, before any database is asked.
type CustomMapping struct {
	CIDR    netip.Prefix `key:"cidr"`
	Region  string       `key:"region"`
	Comment string       `key:"comment"`
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	Enabled bool   `key:"enabled"`
	Address string `key:"address"`
}

// API is the HTTP API.
type API struct {
	Enabled           bool           `key:"enabled"`
	Address           string         `key:"address"`
	AllowedNetworks   []netip.Prefix `key:"allowed_networks"`
	AllowedHosts      []string       `key:"allowed_hosts"`
	TrustProxyHeaders bool           `key:"trust_proxy_headers"`
	MaxConnections    int            `key:"max_connections"`
	EnableCORS        bool           `key:"enable_cors"`
	CORS              CORS           `key:"cors"`
	TLS               TLS            `key:"tls"`
	Tokens            Tokens         `key:"tokens" reload:"live"`
}

// TLS is what the API shows clients and wants from them. Without files it is plain HTTP.
type TLS struct {
	Certificate string `key:"certificate"` // PEM file: the certificate, then those that lead to its authority
	Key         string `key:"key"`         // PEM file
	ClientCA    string `key:"client_ca"`   // PEM file: clients need a certificate of these authorities
}

// Tokens are bearer tokens by role, each under the name of who has it. Without any the networks alone decide.
type Tokens struct {
	Read    map[string]settings.Secret `key:"read"`
	Operate map[string]settings.Secret `key:"operate"`
	Admin   map[string]settings.Secret `key:"admin"`
}

// Any tells whether there are tokens.
func (t *Tokens) Any() bool { return len(t.Read)+len(t.Operate)+len(t.Admin) > 0 }

// CORS is what browsers of other origins may do.
type CORS struct {
	AllowedOrigins   []string `key:"allowed_origins"`
	AllowedMethods   []string `key:"allowed_methods"`
	AllowedHeaders   []string `key:"allowed_headers"`
	AllowCredentials bool     `key:"allow_credentials"`
	MaxAge           int      `key:"max_age"` // seconds
}
