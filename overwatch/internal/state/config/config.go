// Package config owns the configuration of an overwatch node: its keys with their defaults and bounds, and the checks
// of a complete configuration. control and the root load it and pass it to other packages. The package reads files, and
// never uses the network or a clock. A *Config never changes after Load has returned it, so any goroutine may read it.
// Comments of its fields are the text of the reference page.
package config

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/leaf/shardmap"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// Mode is the value of the key `mode` in an overwatch node's configuration.
const Mode = "overwatch"

// Config is the configuration of an overwatch node. Its fields mirror the keys of the files.
type Config struct {
	// Required: `overwatch`. The launcher `gslb` reads this key only from the file of `--config`, and not from included
	// files.
	Mode string `key:"mode" reload:"silent"`
	// The directory of the persistent state: pins, keys, objects of the API.
	DataDir   string    `key:"data_dir" default:"/var/lib/gslb" reload:"restart"`
	Overwatch Overwatch `key:"overwatch"`
	DNS       DNS       `key:"dns"`
	// Regions with their servers. A region may be empty. Agents and the API can add backends to it.
	Regions []Region `key:"regions" reload:"live"`
	// Load-balanced names.
	Domains []Domain       `key:"domains" reload:"live"`
	Logging logging.Config `key:"logging" reload:"live"`
	Metrics Metrics        `key:"metrics" reload:"restart"`
	API     API            `key:"api" reload:"restart"`
	Audit   Audit          `key:"audit" reload:"restart"`
	Routing Routing        `key:"routing"`

	warnings []string
	disabled []Domain           // disabled domains of the files; Domains contains the enabled domains
	defined  []Domain           // by the API
	made     []StaticServer     // by the API
	records  *Records           // by the API; nil: none
	overlays *Overlays          // of the API; nil without overlays
	tuned    map[string]*Domain // domains with their own settings of backend status
}

// WithDomains returns the configuration with the additional domains of the API. It shares the memory of both.
func (c *Config) WithDomains(defined []Domain) *Config {
	with := *c
	with.defined, with.tuned = defined, tunedDomains(c.tuned, defined)
	return &with
}

// Defined returns the domains that the API has defined. The caller must not change them.
func (c *Config) Defined() []Domain { return c.defined }

// Records are the DNS records of the API by key.
type Records = shardmap.Map[*model.Record]

// WithRecords returns the configuration with the records of the API. It shares the memory of both.
func (c *Config) WithRecords(records *Records) *Config {
	with := *c
	with.records = records
	return &with
}

// Records returns the records of the API. The caller must not change them.
func (c *Config) Records() *Records { return c.records }

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

// Overwatch contains the keys of the node: identity, trust, checks, signing and geolocation.
type Overwatch struct {
	Identity Identity `key:"identity" reload:"restart"`
	// Alias of the top-level `data_dir`. Set only one of the two.
	DataDir string `key:"data_dir" reload:"silent"`
	// The tokens of agents by service name. An agent proves the token of each of its services. Tokens are case-sensitive;
	// the recommended minimum is 32 characters.
	AgentTokens map[string]settings.Secret `key:"agent_tokens" reload:"live"`
	// Previous tokens by service name, at most 4 per service. The node also accepts them while agents change to the token
	// in `agent_tokens`. See [rotation.md](rotation.md) for the steps.
	PreviousAgentTokens map[string][]settings.Secret `key:"previous_agent_tokens" reload:"live"`
	// Policies for the agents and the agent-reported backends of a service, by service name. Each service needs a token in
	// `agent_tokens`.
	AgentPolicies map[string]AgentPolicy `key:"agent_policies" reload:"live"`
	Gossip        Gossip                 `key:"gossip" reload:"restart"`
	Validation    Validation             `key:"validation"`
	Stale         Stale                  `key:"stale" reload:"live"`
	Flapping      Flapping               `key:"flapping" reload:"live"`
	Brake         Brake                  `key:"brake" reload:"live"`
	DNSSEC        DNSSEC                 `key:"dnssec"`
	// Base URLs of the other nodes for [replication](replication.md), in the form of `dnssec.key_sync.peers`. Used only if
	// `dnssec.key_sync.peers` is empty.
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

// Audit has the keys of the audit log.
type Audit struct {
	// The time for which the node stores entries of the audit log. The node stores at most the latest 100,000 entries.
	Retention time.Duration `key:"retention" default:"2160h" min:"1h"`
}

// Routing contains the keys of samples and explanations of routing decisions.
type Routing struct {
	// The sampling interval N: the node records one in N queries for load-balanced names, for `GET /routing/decisions`. 0:
	// no sampling. See [why](why.md).
	DecisionSample int `key:"decision_sample" default:"128" reload:"live" min:"0" max:"1000000"`
	// Client networks that may query explanations: the answer to a TXT query for `_why.<name>` explains the answers for
	// `<name>`. Queries that request signatures receive no explanation. `[]`: no networks.
	WhyNetworks []netip.Prefix `key:"why_networks" default:"127.0.0.0/8, ::1/128" reload:"live"`
}

// Identity has the node's name and region.
type Identity struct {
	// The unique name of the node: letters, digits, hyphens, underscores, dots; at most 128 characters. Default: the host
	// name.
	NodeID string `key:"node_id"`
	// The region of the node.
	Region string `key:"region"`
}

// AgentPolicy limits the reports of a service's agents, and defines the check of their backends.
type AgentPolicy struct {
	// The permitted networks of agent-reported backends of the service, see [below](#where-backends-of-agents-may-be).
	// Empty: all addresses except loopback addresses of this machine, link-local addresses and cloud metadata addresses.
	AllowedCIDRs []netip.Prefix `key:"allowed_cidrs"`
	// The maximum number of pinned agents of the service; 0 means 1024. A source (an IPv4 address, or an IPv6 /64) may
	// have half of them. If all agents of a site share one address, set twice the number of agents. A lower limit does not
	// remove pinned agents.
	MaxAgents int `key:"max_agents" min:"0" max:"65536"`
	// The maximum number of new agents of the service per second that the node pins from a source, with a burst of ten
	// times this number; 0 means 10. A site with many new agents behind a single address may require a higher value.
	// Agents above the limit receive the rejection `limit`, and retry. For all services without this key together, a
	// node pins 100 new agents per second with a burst of 1000, and in addition one agent per service every two seconds.
	NewPerSecond int `key:"new_per_second" min:"0" max:"65536"`
	// The own check of backends that agents of the service report. It replaces the check in the report, see
	// [below](#checks-of-agents-backends). The key `address` is not allowed, because the node would check all backends of
	// the service at a single address.
	HealthCheck *HealthCheck `key:"health_check"`
}

// Gossip contains the keys of the gossip with agents and other nodes.
type Gossip struct {
	// The address and port for agents and other nodes, TCP and UDP.
	BindAddress string `key:"bind_address" default:"0.0.0.0:7946"`
	// The gossip key: 32 octets in base64, the same on all nodes and agents. Required. Generate it with `openssl rand
	// -base64 32`.
	EncryptionKey settings.Secret `key:"encryption_key"`
	// Previous gossip keys that the node accepts during a change of `encryption_key`.
	PreviousEncryptionKeys []settings.Secret `key:"previous_encryption_keys"`
	// The interval at which the node pings other nodes.
	ProbeInterval time.Duration `key:"probe_interval" default:"1s" min:"1ms"`
	// The timeout of a probe. It must be shorter than `probe_interval`.
	ProbeTimeout time.Duration `key:"probe_timeout" default:"500ms" min:"1ms"`
	// The interval at which nodes send membership changes to other nodes.
	GossipInterval time.Duration `key:"gossip_interval" default:"200ms" min:"1ms"`
	// Other overwatch nodes as `host:port`, for the list of nodes and their monitoring. The nodes of
	// `dnssec.key_sync.peers` are included automatically.
	Seeds []string `key:"seeds"`
	// The name of the cluster in status and metrics: at most 63 letters, digits, hyphens, underscores and dots. The name
	// does not affect membership: all nodes with the same `encryption_key` form a cluster.
	ClusterName string `key:"cluster_name" reload:"live"`
}

// Validation contains the keys of the node's own checks of backends.
type Validation struct {
	// Whether the node checks backends itself (own checks).
	Enabled bool `key:"enabled" default:"true" reload:"live"`
	// The interval of own checks of agents' backends, and of servers without `health_check`.
	CheckInterval time.Duration `key:"check_interval" default:"30s" reload:"live" min:"50ms" max:"24h"`
	// The timeout of these checks, at most `check_interval`.
	CheckTimeout time.Duration `key:"check_timeout" default:"5s" reload:"live" min:"10ms"`
	// The number of consecutive failed checks after which a server without `health_check` becomes unhealthy.
	FailureThreshold int `key:"failure_threshold" default:"3" reload:"live" min:"1" max:"1000"`
	// The number of consecutive successful checks after which an unhealthy server without `health_check` becomes healthy.
	SuccessThreshold int `key:"success_threshold" default:"2" reload:"live" min:"1" max:"1000"`
	// The maximum number of concurrent checks. Checks with `body_matches` have a separate limit of an eighth of this
	// number. A check uses a file descriptor and about 30 KiB of memory.
	MaxConcurrentChecks int `key:"max_concurrent_checks" default:"1024" reload:"live" min:"1" max:"65536"`
	// The number of nodes, including this node, that must see a failure before an own check removes a backend. 1: no
	// other node is required. Set the same value on all nodes. Requires `key_sync.secret` and peers. See [agreement
	// between nodes](#agreement-between-nodes).
	Agree int `key:"agree" default:"1" reload:"live" min:"1" max:"33"`
	// The time after which the node decides without other nodes.
	AgreeWithin time.Duration `key:"agree_within" default:"5s" reload:"live" min:"100ms" max:"10m"`
}

// Stale contains the times after which a silent agent is stale or lost.
type Stale struct {
	// The time without a report after which the reports of an agent are stale. Own checks then decide.
	Threshold time.Duration `key:"threshold" default:"30s" min:"1s" max:"87600h"`
	// The time without a report after which the node removes the backends of an agent, unless own checks find them
	// healthy. It must be longer than `threshold`.
	RemoveAfter time.Duration `key:"remove_after" default:"5m" max:"87600h"`
}

// Flapping contains the keys of the detection of flapping backends.
type Flapping struct {
	// A backend flaps if it has stopped serving three times within this time. A stop by an operator is not counted. See
	// [backend-flaps](runbooks.md#backend-flaps).
	Window time.Duration `key:"window" default:"10m" min:"1s" max:"24h"`
}

// DNSSEC has the keys of DNSSEC signing.
type DNSSEC struct {
	// Whether the node signs answers.
	Enabled bool `key:"enabled" default:"true" reload:"restart"`
	// The algorithm of new keys: `ECDSAP256SHA256` (13) or `ED25519` (15). If all nodes have another algorithm than the
	// current keys, they [change the keys](dnssec.md#a-new-key).
	Algorithm string `key:"algorithm" default:"ECDSAP256SHA256" reload:"live"`
	// Required if `enabled` is false: a text in your own words, that any party on the network path can forge answers.
	SecurityAcknowledgment string `key:"security_acknowledgment" reload:"silent"`
	// The proof of non-existence: `nsec`, or `nsec3` to prevent zone walking.
	Denial   string   `key:"denial" default:"nsec" reload:"live"`
	KeySync  KeySync  `key:"key_sync" reload:"live"`
	Rollover Rollover `key:"rollover" reload:"live"`
}

// Rollover contains the keys of the rollover of signing keys (see [signed answers](dnssec.md#a-new-key)).
type Rollover struct {
	// The age at which a key is replaced automatically; 0: never. The parent zone must then follow CDS records
	// automatically, or an operator must publish the DS record at the parent when `gslbctl status` requires it.
	Every time.Duration `key:"every" max:"876000h"`
	// The address and port of the resolver that returns the servers of a parent zone. Default: the first resolver of the
	// machine.
	Resolver string `key:"resolver"`
	// The addresses and ports of the parent zone's servers, for all zones. The node queries these servers for DS records,
	// instead of the servers that the resolver returns. At most 32.
	ParentServers []string `key:"parent_servers"`
	// A safety margin for each wait of a rollover: the maximum clock difference between nodes plus the time until all
	// answers use a new key. Set the same value on all nodes.
	Margin time.Duration `key:"margin" default:"5m" min:"1s" max:"168h"`
}

// KeySync contains the keys of the exchange of signing keys with other overwatch nodes.
type KeySync struct {
	// Base URLs of the HTTP API of the other nodes, such as `http://overwatch-2.example.com:8080`; at most 32. Their
	// `api.allowed_networks` must include this node. The list may include the node itself.
	Peers []string `key:"peers"`
	// The interval of requests for the keys of a peer, with a jitter of 10%. After a failure the interval is 10s, and
	// doubles up to this value.
	PollInterval time.Duration `key:"poll_interval" default:"1h" min:"1s"`
	// The timeout of a request, including the complete response.
	Timeout time.Duration `key:"timeout" default:"30s" min:"1ms"`
	// The secret for the authentication between nodes. Set the same secret on all nodes, and on no agent. Default: derived
	// from the gossip key and all tokens, if at least two tokens differ and no agent has proved all services. Otherwise
	// the nodes exchange no keys.
	Secret settings.Secret `key:"secret"`
	// The PEM file with the CA certificates for https peers. Default: the CA certificates of the machine. The node reads
	// this file and the two files below for each round.
	CA string `key:"ca"`
	// The PEM file with the client certificate for peers with `api.tls.client_ca`, and its intermediate certificates.
	// Requires `key`.
	Certificate string `key:"certificate"`
	// The PEM file with the private key of `certificate`. Group and others must not have read permission.
	Key string `key:"key"`
}

// Replication contains the keys of the replication of operator state between overwatch nodes.
type Replication struct {
	// Whether the node replicates changes of operators with the nodes of `overwatch.dnssec.key_sync.peers` or
	// `overwatch.peers` (see [replication](replication.md)). Requires `key_sync.secret`; DNSSEC is optional.
	Enabled bool `key:"enabled" default:"true" reload:"live"`
	// The time for which a node stores a deletion. A node that was offline for longer first receives the state of the
	// other nodes, and then sends its own state. Set the same value on all nodes.
	TombstoneRetention time.Duration `key:"tombstone_retention" default:"720h" reload:"restart" min:"1h" max:"87600h"`
}

// Geolocation contains the keys of client locations and their regions.
type Geolocation struct {
	// The geolocation database in MMDB format: MaxMind's layout or a flat layout, of countries or, for `proximity`, of
	// cities. The node loads a replaced file within seconds. If a file is invalid, the node logs an error and uses the
	// previous file.
	DatabasePath string `key:"database_path" reload:"live"`
	// The region of clients that match neither a mapping nor the database.
	DefaultRegion string `key:"default_region" reload:"live"`
	// Whether the node uses the address in EDNS Client Subnet (ECS, RFC 7871) as the client address.
	ECSEnabled bool `key:"ecs_enabled" reload:"restart"`
	// Networks with a fixed region. The longest matching prefix has precedence over shorter prefixes and over the
	// database.
	CustomMappings []CustomMapping `key:"custom_mappings" reload:"live"`
}

// Metrics has the keys of the Prometheus endpoint.
type Metrics struct {
	// Whether the node serves Prometheus metrics at `/metrics`.
	Enabled bool `key:"enabled"`
	// The address and port of the metrics. `0.0.0.0` is all IPv4 addresses. `[::]`, or an empty host, is all IPv4 and IPv6
	// addresses. If the address equals `api.address`, the listener of the API also serves the metrics: clients must be in
	// `api.allowed_networks`, and require a token if the API has tokens.
	Address string `key:"address" default:"127.0.0.1:9090"`
	// The largest number of domains with metrics for each domain and backend. With more domains, the node has metrics for
	// each zone instead. 0 always selects the metrics for each zone.
	PerDomain int `key:"per_domain" default:"1000" reload:"live" min:"0" max:"10000"`
}

// API has the keys of the HTTP API.
type API struct {
	// Whether the node serves the HTTP API.
	Enabled bool `key:"enabled"`
	// The address and port of the API. `0.0.0.0` is all IPv4 addresses. `[::]`, or an empty host, is all IPv4 and IPv6
	// addresses.
	Address string `key:"address" default:"127.0.0.1:8080"`
	// The networks of clients that may use the API. `0.0.0.0/0` means all IPv4 clients, `::/0` all IPv6 clients.
	AllowedNetworks []netip.Prefix `key:"allowed_networks" default:"127.0.0.1/32, ::1/128"`
	// Host names of the node that requests may use, in addition to IP addresses, `localhost` and the node's name. If set,
	// the node rejects requests with other host names.
	AllowedHosts []string `key:"allowed_hosts"`
	// Whether the right-most address in X-Forwarded-For is the client, for connections from `allowed_networks`.
	TrustProxyHeaders bool `key:"trust_proxy_headers"`
	// The maximum number of concurrent connections.
	MaxConnections int `key:"max_connections" default:"256" min:"1" max:"65536"`
	// Whether the node serves the web console at `/` of this address. The console has the rights of its token. Without
	// tokens, the console may make changes only if the node checks the host of requests: on loopback, and with
	// `allowed_hosts`.
	Console bool `key:"console" default:"true"`
	// Whether browsers may call the API from pages of other origins (CORS).
	EnableCORS bool   `key:"enable_cors"`
	CORS       CORS   `key:"cors"`
	TLS        TLS    `key:"tls"`
	Tokens     Tokens `key:"tokens" reload:"live"`
	OIDC       OIDC   `key:"oidc"`
}

// TLS contains the files of HTTPS on the API. Without files, the API uses plain HTTP.
type TLS struct {
	// The PEM file with the certificate of the API and its intermediate certificates. With `key`, the API uses HTTPS with
	// TLS 1.2 or later. The node reloads a changed file.
	Certificate string `key:"certificate"`
	// The PEM file with the private key of `certificate`. Group and others must not have read permission. The node reloads
	// a changed file.
	Key string `key:"key"`
	// The PEM file with CA certificates. If set, all clients and paths require a client certificate of a CA in the file.
	// The node reloads a changed file.
	ClientCA string `key:"client_ca"`
}

// Tokens contains bearer tokens by role and by the name of their holder. Without tokens, the API only checks the
// network of clients.
type Tokens struct {
	// Bearer tokens with read access, by the name of the holder in the audit log; 32 to 512 characters. If any token is
	// configured, each request requires a token and an address in `allowed_networks`; health probes, the API description
	// and public keys require no token.
	Read map[string]settings.Secret `key:"read"`
	// Tokens with read access that also permit overrides, drains, checks, revocations and key synchronization.
	Operate map[string]settings.Secret `key:"operate"`
	// Tokens with full access.
	Admin map[string]settings.Secret `key:"admin"`
}

// Any reports whether there are tokens.
func (t *Tokens) Any() bool { return len(t.Read)+len(t.Operate)+len(t.Admin) > 0 }

// CORS contains the rights of browsers on pages of other origins.
type CORS struct {
	// The origins of these pages, such as `https://dashboard.example.com`, or `*` for any.
	AllowedOrigins []string `key:"allowed_origins" default:"*"`
	// Methods that pages of other origins may use.
	AllowedMethods []string `key:"allowed_methods" default:"GET, POST, PUT, PATCH, DELETE, OPTIONS"`
	// Headers that pages of other origins may send.
	AllowedHeaders []string `key:"allowed_headers" default:"Accept, Authorization, Content-Type, X-Requested-With"`
	// Whether pages of other origins may send cookies. Requires `allowed_origins` without `*`.
	AllowCredentials bool `key:"allow_credentials"`
	// The time in seconds for which browsers may cache these settings.
	MaxAge int `key:"max_age" default:"86400" min:"0" max:"604800"`
}

// OIDC has the keys of the sign-in of people to the console.
type OIDC struct {
	// The URL of the OIDC provider, such as `https://login.example.com`. If set, people can [sign in](tokens.md#sign-in).
	// Requires a token in `api.tokens.admin`, which is valid without the provider.
	Issuer string `key:"issuer"`
	// The client id of the nodes at the provider.
	ClientID string `key:"client_id"`
	// The file with the client secret. Group and others must have no permission. Default: a public client with PKCE.
	ClientSecretFile string `key:"client_secret_file"`
	// The URL of the sign-in answer at this node, as registered at the provider: `https://HOST/auth/callback`.
	RedirectURL string `key:"redirect_url"`
	// The scopes of the sign-in. `openid` is required.
	Scopes []string `key:"scopes" default:"openid, profile, email, groups"`
	// The claim with the name of the person in the audit log.
	UsernameClaim string `key:"username_claim" default:"email"`
	// The claim with the groups of the person.
	GroupsClaim string `key:"groups_claim" default:"groups"`
	// The time after which a person must sign in again.
	SessionLifetime time.Duration `key:"session_lifetime" default:"8h" min:"1m" max:"168h"`
	// Roles by group, at most 100. The first entry with a group of the person applies. Other people have no access.
	Roles []OIDCRole `key:"roles"`
}

// OIDCRole is the role of the people of a group.
type OIDCRole struct {
	// The name of the group in `groups_claim`.
	Group string `key:"group"`
	// The rights: `read`, `operate` or `admin`.
	Role string `key:"role" default:"read"`
	// The objects and actions that the people of the group are limited to, as for [tokens](tokens.md#scopes).
	Scope OIDCScope `key:"scope"`
}

// OIDCScope has the lists of model.TokenScope.
type OIDCScope struct {
	// Names that equal a zone or are below it.
	Zones []string `key:"zones"`
	// Names; `*.example.com` is every name below `example.com`.
	Names []string `key:"names"`
	// Kinds of objects.
	Kinds []string `key:"kinds"`
	// Regions of objects.
	Regions []string `key:"regions"`
	// Owners of objects.
	Owners []string `key:"owners"`
	// Actions: `read`, `operate`, `define`. Default: all actions of the role.
	Actions []string `key:"actions"`
}
