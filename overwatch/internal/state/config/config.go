// Package config owns the configuration of an overwatch node: its keys with their defaults and bounds, and the checks
// of a complete configuration. control and the root load it and pass it to other packages. The package reads files, and
// never uses the network or a clock. A *Config never changes after Load has returned it, so any goroutine may read it.
// Comments of its fields are the text of the reference page.
package config

import (
	"net/netip"
	"time"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
)

// Mode is the value of the key `mode` in an overwatch node's configuration.
const Mode = "overwatch"

// Config is the configuration of an overwatch node; its fields mirror the keys of the files.
type Config struct {
	// `overwatch`. Required; the launcher `gslb` reads it from the file given with `--config`, not from an included
	// one.
	Mode string `key:"mode" reload:"silent"`
	// The directory for state that must survive a restart: pins, keys, objects of the API.
	DataDir   string    `key:"data_dir" default:"/var/lib/gslb" reload:"restart"`
	Overwatch Overwatch `key:"overwatch"`
	DNS       DNS       `key:"dns"`
	// Places with servers in them. A region may be empty and filled by agents or the API.
	Regions []Region `key:"regions" reload:"live"`
	// Load-balanced names.
	Domains []Domain       `key:"domains" reload:"live"`
	Logging logging.Config `key:"logging" reload:"live"`
	Metrics Metrics        `key:"metrics" reload:"restart"`
	API     API            `key:"api" reload:"restart"`
	Audit   Audit          `key:"audit" reload:"restart"`
	Routing Routing        `key:"routing"`

	warnings []string
	disabled []Domain           // of the files; Domains has the others
	defined  []Domain           // by the API
	made     []StaticServer     // by the API
	overlays *Overlays          // of the API; nil: none
	tuned    map[string]*Domain // domains with settings of the status of their backends
}

// WithDomains returns the configuration with the domains of the API in addition to the domains of the files. It
// shares the memory of both.
func (c *Config) WithDomains(defined []Domain) *Config {
	with := *c
	with.defined, with.tuned = defined, tunedDomains(c.tuned, defined)
	return &with
}

// Defined returns the domains that the API has defined. It must not be changed.
func (c *Config) Defined() []Domain { return c.defined }

// AllDomains yields the domains of the files, then the domains of the API.
func (c *Config) AllDomains(yield func(*Domain) bool) {
	for _, list := range [][]Domain{c.Domains, c.defined} {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// CountDomains returns the number of AllDomains.
func (c *Config) CountDomains() int { return len(c.Domains) + len(c.defined) }

// Overwatch holds the keys of the node: identity, trust, checks, signing and geolocation.
type Overwatch struct {
	Identity Identity `key:"identity" reload:"restart"`
	// The same, in another place; only one of the two may be given.
	DataDir string `key:"data_dir" reload:"silent"`
	// Service name to the token that its agents prove to have. Tokens are case-sensitive; at least 32 characters are
	// recommended.
	AgentTokens map[string]settings.Secret `key:"agent_tokens" reload:"live"`
	// Service name to tokens that still prove it while its agents change to the one in `agent_tokens`; at most 4.
	// [rotation.md](rotation.md) has the steps.
	PreviousAgentTokens map[string][]settings.Secret `key:"previous_agent_tokens" reload:"live"`
	// Service name to what its agents may claim. The service must have a token.
	AgentPolicies map[string]AgentPolicy `key:"agent_policies" reload:"live"`
	Gossip        Gossip                 `key:"gossip" reload:"restart"`
	Validation    Validation             `key:"validation"`
	Stale         Stale                  `key:"stale" reload:"live"`
	Flapping      Flapping               `key:"flapping" reload:"live"`
	Brake         Brake                  `key:"brake" reload:"live"`
	DNSSEC        DNSSEC                 `key:"dnssec"`
	// The other nodes for [replication](replication.md), in the form of `dnssec.key_sync.peers`, where that names none.
	Peers         []string      `key:"peers" reload:"live"`
	Replication   Replication   `key:"replication"`
	Notifications Notifications `key:"notifications"`
	Geolocation   Geolocation   `key:"geolocation"`
}

// ReplicationPeers returns the base URLs of the peers of replication.
func (o *Overwatch) ReplicationPeers() []string {
	if len(o.DNSSEC.KeySync.Peers) > 0 {
		return o.DNSSEC.KeySync.Peers
	}
	return o.Peers
}

// Audit holds the keys of the audit log.
type Audit struct {
	// The time after which an entry of the audit log is deleted: 90 days by default. The audit log has at most the latest
	// 100,000 entries.
	Retention time.Duration `key:"retention" default:"2160h" min:"1h"`
}

// Routing holds the keys of samples and explanations of routing decisions.
type Routing struct {
	// One query for a load-balanced name in this number is recorded for `GET /routing/decisions`; 0: none. See
	// [why](why.md).
	DecisionSample int `key:"decision_sample" default:"128" reload:"live" min:"0" max:"1000000"`
	// Client networks that receive an explanation of the answers for `<name>` as TXT records of `_why.<name>`, if the
	// query requests no signatures; `[]`: none.
	WhyNetworks []netip.Prefix `key:"why_networks" default:"127.0.0.0/8, ::1/128" reload:"live"`
}

// Identity holds the node's name and region.
type Identity struct {
	// The node's name: letters, digits, hyphens, underscores, dots; at most 128. Default: the host name.
	NodeID string `key:"node_id"`
	// The region of the node.
	Region string `key:"region"`
}

// AgentPolicy limits the reports of agents of a service, and sets the check of their backends.
type AgentPolicy struct {
	// Where backends of the service may be, see [below](#where-backends-of-agents-may-be); empty: anywhere but at the
	// addresses of this machine's loopback, of the link, and of metadata services.
	AllowedCIDRs []netip.Prefix `key:"allowed_cidrs"`
	// The largest number of pinned agents of the service; 0 means 1024. One source (an IPv4 address, or an IPv6 /64) may
	// hold half of them, so a site with more agents behind one address needs twice as many here. Agents that are pinned
	// already stay.
	MaxAgents int `key:"max_agents" min:"0" max:"65536"`
	// The number of new agents of the service that are pinned per second from one source, with a burst of ten times this
	// number; 0 means 10. A site with many new agents behind one address may need more. Other agents receive `limit` and
	// retry. For all services without this key together, a node pins 100 new agents per second with a burst of 1 000. In
	// addition, it pins one agent of each service in two seconds.
	NewPerSecond int `key:"new_per_second" min:"0" max:"65536"`
	// How this node checks backends that agents of the service report, instead of the check in the report (see
	// [below](#checks-of-agents-backends)). `address` is not allowed here: all backends of the service would be probed at
	// one address.
	HealthCheck *HealthCheck `key:"health_check"`
}

// Gossip holds the keys of the gossip with agents and other nodes.
type Gossip struct {
	// Where agents reach the node, TCP and UDP.
	BindAddress string `key:"bind_address" default:"0.0.0.0:7946"`
	// 32 octets in base64, the same on all nodes and agents. Required. Make one with `openssl rand -base64 32`.
	EncryptionKey settings.Secret `key:"encryption_key"`
	// Keys that are still accepted while `encryption_key` changes.
	PreviousEncryptionKeys []settings.Secret `key:"previous_encryption_keys"`
	// How often another node is probed.
	ProbeInterval time.Duration `key:"probe_interval" default:"1s" min:"1ms"`
	// How long a probe waits; shorter than `probe_interval`.
	ProbeTimeout time.Duration `key:"probe_timeout" default:"500ms" min:"1ms"`
	// How often news is passed on.
	GossipInterval time.Duration `key:"gossip_interval" default:"200ms" min:"1ms"`
	// `host:port` of other overwatch nodes, only to list and monitor them. The peers of the exchange of keys
	// (`dnssec.key_sync.peers`) are listed and monitored without.
	Seeds []string `key:"seeds"`
	// What people call the cluster, at most 63 letters, digits, hyphens, underscores and dots: status and metrics show
	// it. It has no effect on membership: all nodes with the same `encryption_key` are a cluster.
	ClusterName string `key:"cluster_name" reload:"live"`
}

// Validation is the node's own checking of backends.
type Validation struct {
	// Whether the node checks backends itself.
	Enabled bool `key:"enabled" default:"true" reload:"live"`
	// How often the node checks agents' backends, and servers that have no `health_check`.
	CheckInterval time.Duration `key:"check_interval" default:"30s" reload:"live" min:"50ms" max:"24h"`
	// How long one of these checks may take; not longer than `check_interval`.
	CheckTimeout time.Duration `key:"check_timeout" default:"5s" reload:"live" min:"10ms"`
	// Failed checks in a row that make a server unhealthy that has no `health_check`.
	FailureThreshold int `key:"failure_threshold" default:"3" reload:"live" min:"1" max:"1000"`
	// Successful checks in a row that make an unhealthy server without `health_check` healthy.
	SuccessThreshold int `key:"success_threshold" default:"2" reload:"live" min:"1" max:"1000"`
	// Checks under way at the same time; checks with `body_matches` have an eighth of it for themselves. Each takes a
	// descriptor and some 30 KiB.
	MaxConcurrentChecks int `key:"max_concurrent_checks" default:"1024" reload:"live" min:"1" max:"65536"`
}

// Stale holds the times after which a silent agent is stale or lost.
type Stale struct {
	// After this silence an agent's report has no effect, and the node's own checks decide.
	Threshold time.Duration `key:"threshold" default:"30s" min:"1s" max:"87600h"`
	// After this silence an agent's backends are removed, unless the node's own checks find them healthy. Longer than
	// `threshold`.
	RemoveAfter time.Duration `key:"remove_after" default:"5m" max:"87600h"`
}

// Flapping is the detection of backends that flap.
type Flapping struct {
	// A backend flaps while its last three stops are within this time. A stop is a change from serving to not serving
	// that no operator made. See [backend-flaps](runbooks.md#backend-flaps).
	Window time.Duration `key:"window" default:"10m" min:"1s" max:"24h"`
}

// DNSSEC is signing.
type DNSSEC struct {
	// Whether answers are signed.
	Enabled bool `key:"enabled" default:"true" reload:"restart"`
	// The algorithm of new keys: `ECDSAP256SHA256` (13) or `ED25519` (15). When all nodes have another one than their
	// keys, they [change the keys](dnssec.md#a-new-key).
	Algorithm string `key:"algorithm" default:"ECDSAP256SHA256" reload:"live"`
	// Required when `enabled` is false: in your own words, that anybody on the way can then forge answers.
	SecurityAcknowledgment string `key:"security_acknowledgment" reload:"silent"`
	// How a name is proved not to exist: `nsec`, or `nsec3` for zones that must not be walked.
	Denial   string   `key:"denial" default:"nsec" reload:"live"`
	KeySync  KeySync  `key:"key_sync" reload:"live"`
	Rollover Rollover `key:"rollover" reload:"live"`
}

// Rollover is the change of signing keys (see [signed answers](dnssec.md#a-new-key)).
type Rollover struct {
	// The age at which a key is replaced automatically; 0: never. The parent zone must then follow CDS records
	// automatically, or an operator must publish the DS record at the parent when `gslbctl status` requires it.
	Every time.Duration `key:"every" max:"876000h"`
	// The resolver that names the servers of a parent zone, an address with port. Default: the machine's first.
	Resolver string `key:"resolver"`
	// The servers of the parent of all zones, addresses with ports: the node queries them for DS records instead of the
	// servers that the resolver names. At most 32.
	ParentServers []string `key:"parent_servers"`
	// Added to each wait of a roll: how much the nodes' clocks may differ, and how long a new key takes to be in all
	// answers. The same on all nodes.
	Margin time.Duration `key:"margin" default:"5m" min:"1s" max:"168h"`
}

// KeySync is the exchange of signing keys with other overwatch nodes.
type KeySync struct {
	// Base URLs of the other nodes' HTTP API, such as `http://overwatch-2.example.com:8080`; at most 32. Their
	// `api.allowed_networks` must admit this node. The node itself may be among them.
	Peers []string `key:"peers"`
	// The time between two requests for the keys of a peer, with a jitter of a tenth. After a failure the time is 10s,
	// and doubles up to this value.
	PollInterval time.Duration `key:"poll_interval" default:"1h" min:"1s"`
	// How long a peer may take for its whole answer.
	Timeout time.Duration `key:"timeout" default:"30s" min:"1ms"`
	// The secret by which nodes authenticate each other; the same on all nodes, and on no agent. Default: derived from
	// the gossip key and all tokens while two tokens differ and no agent has proved all services; else no keys are
	// exchanged.
	Secret settings.Secret `key:"secret"`
	// PEM file with the authorities of the certificates of peers over https. Default: the authorities that the machine
	// trusts. This file and the two files below are read for each round.
	CA string `key:"ca"`
	// PEM file with the certificate that this node sends to peers with `api.tls.client_ca`, and the intermediate
	// certificates. Requires `key`.
	Certificate string `key:"certificate"`
	// PEM file with its private key, which group and others must not be able to read.
	Key string `key:"key"`
}

// Replication holds the keys of the replication of operator state between overwatch nodes.
type Replication struct {
	// Whether changes of operators are exchanged with the nodes of `overwatch.dnssec.key_sync.peers` or
	// `overwatch.peers` (see [replication](replication.md)). Requires `key_sync.secret`; DNSSEC is optional.
	Enabled bool `key:"enabled" default:"true" reload:"live"`
	// How long a node stores a deletion. A node that was offline for longer receives the state of the other nodes before
	// sending its own state. Set the same value on all nodes.
	TombstoneRetention time.Duration `key:"tombstone_retention" default:"720h" reload:"restart" min:"1h" max:"87600h"`
}

// Geolocation places clients in regions.
type Geolocation struct {
	// A geolocation database in MMDB format: MaxMind's layout or a flat one, of countries or, for `proximity`, of
	// cities. The node loads a replaced file within seconds. If a file is invalid, the node logs an error and uses the
	// previous file.
	DatabasePath string `key:"database_path" reload:"live"`
	// The region of clients without a region by mapping or database.
	DefaultRegion string `key:"default_region" reload:"live"`
	// Whether the address that a resolver names in EDNS client subnet (RFC 7871) is the client's.
	ECSEnabled bool `key:"ecs_enabled" reload:"restart"`
	// Networks with a fixed region. The longest matching prefix has precedence over shorter ones and over the database.
	CustomMappings []CustomMapping `key:"custom_mappings" reload:"live"`
}

// Metrics is the Prometheus endpoint.
type Metrics struct {
	// Whether Prometheus can read metrics at `/metrics`.
	Enabled bool `key:"enabled"`
	// The address of the metrics. `0.0.0.0` is every IPv4 address; `[::]`, or nothing before the colon, every address of
	// both families. If it is the same as `api.address`, the API's listener answers: only its networks may read them, and
	// where it has tokens, only with one.
	Address string `key:"address" default:"127.0.0.1:9090"`
}

// API is the HTTP API.
type API struct {
	// Whether the HTTP API is served.
	Enabled bool `key:"enabled"`
	// The address of the API. `0.0.0.0` is every IPv4 address; `[::]`, or nothing before the colon, every address of both
	// families.
	Address string `key:"address" default:"127.0.0.1:8080"`
	// Networks of clients that may use the API. 0.0.0.0/0 admits only IPv4; ::/0 is needed for IPv6.
	AllowedNetworks []netip.Prefix `key:"allowed_networks" default:"127.0.0.1/32, ::1/128"`
	// Host names that requests may use for the node, in addition to IP addresses, `localhost` and the node's name; when
	// set, all others are refused.
	AllowedHosts []string `key:"allowed_hosts"`
	// Whether the client is the right-most address in X-Forwarded-For, on connections from `allowed_networks`.
	TrustProxyHeaders bool `key:"trust_proxy_headers"`
	// Connections at the same time.
	MaxConnections int `key:"max_connections" default:"256" min:"1" max:"65536"`
	// Whether the web console is served, at `/` of this address. Its page may change what its token may, and without
	// tokens all where the host of a request is checked: on loopback, and with `allowed_hosts`.
	Console bool `key:"console" default:"true"`
	// Whether browsers may call the API from pages of other origins.
	EnableCORS bool   `key:"enable_cors"`
	CORS       CORS   `key:"cors"`
	TLS        TLS    `key:"tls"`
	Tokens     Tokens `key:"tokens" reload:"live"`
}

// TLS holds the files of HTTPS on the API. Without files it is plain HTTP.
type TLS struct {
	// PEM file with the certificate of the API and the intermediate certificates; with `key`, the API uses HTTPS with TLS
	// 1.2 or later. A changed file is reloaded.
	Certificate string `key:"certificate"`
	// PEM file with its private key, which group and others must not be able to read. A changed file is
	// reloaded.
	Key string `key:"key"`
	// PEM file with authorities: each client then requires a certificate of an authority in the file, for every path. A
	// changed file is reloaded.
	ClientCA string `key:"client_ca"`
}

// Tokens are bearer tokens by role, each under the name of its holder. Without tokens only the networks are checked.
type Tokens struct {
	// Bearer tokens that may read, each under a name for the audit log. If any token is configured, each request requires
	// a token and an address in `allowed_networks`; probes, the API's description and public keys require no token. 32 to
	// 512 characters.
	Read map[string]settings.Secret `key:"read"`
	// Tokens that may also override, drain, check, revoke and sync.
	Operate map[string]settings.Secret `key:"operate"`
	// Tokens that may do everything.
	Admin map[string]settings.Secret `key:"admin"`
}

// Any reports whether there are tokens.
func (t *Tokens) Any() bool { return len(t.Read)+len(t.Operate)+len(t.Admin) > 0 }

// CORS holds the rights of browsers on pages of other origins.
type CORS struct {
	// The origins of these pages, such as `https://dashboard.example.com`, or `*` for any.
	AllowedOrigins []string `key:"allowed_origins" default:"*"`
	// Methods that these pages may use.
	AllowedMethods []string `key:"allowed_methods" default:"GET, POST, PUT, PATCH, DELETE, OPTIONS"`
	// Headers that these pages may send.
	AllowedHeaders []string `key:"allowed_headers" default:"Accept, Authorization, Content-Type, X-Requested-With"`
	// Whether these pages may send cookies. Not together with origin `*`.
	AllowCredentials bool `key:"allow_credentials"`
	// Seconds that a browser may remember this.
	MaxAge int `key:"max_age" default:"86400" min:"0" max:"604800"`
}
