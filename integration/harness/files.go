package harness

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"go.yaml.in/yaml/v3"
)

// OverwatchFile is the configuration file of an overwatch node, with the keys that these clusters use. A test may
// change it before the start of the node.
type OverwatchFile struct {
	Includes  []string         `yaml:"includes,omitempty"`
	Mode      string           `yaml:"mode"`
	DataDir   string           `yaml:"data_dir"`
	Overwatch OverwatchSection `yaml:"overwatch"`
	DNS       DNSSection       `yaml:"dns"`
	Regions   []Region         `yaml:"regions"`
	Domains   []Domain         `yaml:"domains"`
	Logging   Logging          `yaml:"logging"`
	Metrics   Listener         `yaml:"metrics"`
	API       APISection       `yaml:"api"`
	Routing   *Routing         `yaml:"routing,omitempty"`
}

// AgentPolicy is an entry of the key `overwatch.agent_policies`: limits for the agents of a service.
type AgentPolicy struct {
	AllowedCIDRs []netip.Prefix `yaml:"allowed_cidrs,omitempty"`
	MaxAgents    int            `yaml:"max_agents,omitempty"`
	NewPerSecond int            `yaml:"new_per_second,omitempty"`
	HealthCheck  *HealthCheck   `yaml:"health_check,omitempty"` // how nodes check the service
}

// OverwatchSection is the key `overwatch` of an OverwatchFile.
type OverwatchSection struct {
	Identity struct {
		NodeID string `yaml:"node_id"`
		Region string `yaml:"region"`
	} `yaml:"identity"`
	AgentTokens   map[string]string      `yaml:"agent_tokens"`
	AgentPolicies map[string]AgentPolicy `yaml:"agent_policies,omitempty"`
	Gossip        struct {
		BindAddress   string   `yaml:"bind_address"`
		EncryptionKey string   `yaml:"encryption_key"`
		Seeds         []string `yaml:"seeds,omitempty"`
	} `yaml:"gossip"`
	Validation struct {
		Enabled       bool          `yaml:"enabled"`
		CheckInterval time.Duration `yaml:"check_interval"`
		CheckTimeout  time.Duration `yaml:"check_timeout"`
		Agree         int           `yaml:"agree,omitempty"`
		AgreeWithin   time.Duration `yaml:"agree_within,omitempty"`
	} `yaml:"validation"`
	DNSSEC struct {
		Denial    string   `yaml:"denial,omitempty"`
		Algorithm string   `yaml:"algorithm,omitempty"`
		KeySync   *KeySync `yaml:"key_sync,omitempty"`

		Rollover Rollover `yaml:"rollover,omitempty"`
	} `yaml:"dnssec,omitempty"`
	Replication struct {
		Enabled bool `yaml:"enabled"`
	} `yaml:"replication,omitempty"`
	Stale struct {
		Threshold   time.Duration `yaml:"threshold"`
		RemoveAfter time.Duration `yaml:"remove_after"`
	} `yaml:"stale"`
	Flapping struct {
		Window time.Duration `yaml:"window,omitempty"`
	} `yaml:"flapping,omitempty"`
	Geolocation   Geolocation    `yaml:"geolocation,omitempty"`
	Notifications map[string]any `yaml:"notifications,omitempty"`
}

// Geolocation is the key `overwatch.geolocation` of an OverwatchFile.
type Geolocation struct {
	DatabasePath   string    `yaml:"database_path"`
	ECSEnabled     bool      `yaml:"ecs_enabled"`
	CustomMappings []Mapping `yaml:"custom_mappings,omitempty"`
}

// Mapping maps the clients of a network to a region.
type Mapping struct {
	CIDR   netip.Prefix `yaml:"cidr"`
	Region string       `yaml:"region"`
}

// Routing is the key `routing` of an OverwatchFile.
type Routing struct {
	DecisionSample int            `yaml:"decision_sample"`
	WhyNetworks    []netip.Prefix `yaml:"why_networks,omitempty"`
}

// KeySync is the key `overwatch.dnssec.key_sync` of an OverwatchFile.
type KeySync struct {
	Peers        []string      `yaml:"peers"`
	PollInterval time.Duration `yaml:"poll_interval"`
	Timeout      time.Duration `yaml:"timeout"`
	Secret       string        `yaml:"secret,omitempty"`
	CA           string        `yaml:"ca,omitempty"`
	Certificate  string        `yaml:"certificate,omitempty"`
	Key          string        `yaml:"key,omitempty"`
}

// Rollover is the key `overwatch.dnssec.rollover` of an OverwatchFile.
type Rollover struct {
	ParentServers []string      `yaml:"parent_servers,omitempty"`
	Margin        time.Duration `yaml:"margin,omitempty"`
}

// DNSSection is the key `dns` of an OverwatchFile.
type DNSSection struct {
	ListenAddress string         `yaml:"listen_address"`
	ApexTTL       int            `yaml:"apex_ttl,omitempty"`
	NegativeTTL   int            `yaml:"negative_ttl,omitempty"`
	Zones         []string       `yaml:"zones"`
	Resolver      Resolver       `yaml:"resolver,omitempty"`
	Dnstap        *Dnstap        `yaml:"dnstap,omitempty"`
	QueryLog      *QueryLog      `yaml:"query_log,omitempty"`
	ProxyProtocol *ProxyProtocol `yaml:"proxy_protocol,omitempty"`
}

// ProxyProtocol is the key `dns.proxy_protocol` of an OverwatchFile.
type ProxyProtocol struct {
	Networks []netip.Prefix `yaml:"networks"`
}

// QueryLog is the key `dns.query_log` of an OverwatchFile.
type QueryLog struct {
	File  string   `yaml:"file"`
	Types []string `yaml:"types,omitempty"`
}

// Dnstap is the key `dns.dnstap` of an OverwatchFile.
type Dnstap struct {
	Address  string   `yaml:"address"`
	Types    []string `yaml:"types,omitempty"`
	Outcomes []string `yaml:"outcomes,omitempty"`
}

// Resolver is the key `dns.resolver` of an OverwatchFile.
type Resolver struct {
	Servers []string      `yaml:"servers,omitempty"`
	MinTTL  time.Duration `yaml:"min_ttl,omitempty"`
}

// Region is an entry of the key `regions` of an OverwatchFile.
type Region struct {
	Name      string   `yaml:"name"`
	Label     string   `yaml:"label,omitempty"`
	Countries []string `yaml:"countries,omitempty"`
	Latitude  float64  `yaml:"latitude,omitempty"`
	Longitude float64  `yaml:"longitude,omitempty"`
	Servers   []Server `yaml:"servers,omitempty"`
}

// Server is a backend without an agent. The nodes check it.
type Server struct {
	Service     string      `yaml:"service"`
	Address     netip.Addr  `yaml:"address"`
	Port        uint16      `yaml:"port"`
	Weight      int         `yaml:"weight"`
	HealthCheck HealthCheck `yaml:"health_check"`
	Target      string      `yaml:"-"` // replaces Address
	Allowed     []string    `yaml:"-"` // allowed_cidrs of Target
}

// MarshalYAML writes Target, if it is set, instead of Address.
func (s Server) MarshalYAML() (any, error) {
	if s.Target == "" {
		type plain Server
		return plain(s), nil
	}
	return map[string]any{"service": s.Service, "target": s.Target, "allowed_cidrs": s.Allowed, "port": s.Port,
		"weight": s.Weight, "health_check": s.HealthCheck}, nil
}

// Domain is an entry of the key `domains` of an OverwatchFile.
type Domain struct {
	Name             string         `yaml:"name"`
	RoutingAlgorithm string         `yaml:"routing_algorithm"`
	Regions          []string       `yaml:"regions"`
	TTL              int            `yaml:"ttl"` // seconds
	MaxAnswers       int            `yaml:"max_answers,omitempty"`
	Answer           string         `yaml:"answer,omitempty"`
	SRV              []string       `yaml:"srv,omitempty"`
	HTTPS            HTTPS          `yaml:"https,omitempty"`
	Failback         string         `yaml:"failback,omitempty"`
	Settings         map[string]any `yaml:",inline"` // other settings
}

// HTTPS is the key `https` of a Domain.
type HTTPS struct {
	ALPN []string `yaml:"alpn,omitempty"`
}

// AgentFile is the configuration file of an agent. A test may change it before the agent is started.
type AgentFile struct {
	Mode    string       `yaml:"mode"`
	DataDir string       `yaml:"data_dir"`
	Agent   AgentSection `yaml:"agent"`
	Logging Logging      `yaml:"logging"`
	Metrics Listener     `yaml:"metrics"`
}

// AgentSection is the key `agent` of an AgentFile.
type AgentSection struct {
	Identity struct {
		AgentID       string            `yaml:"agent_id"`
		Region        string            `yaml:"region"`
		ServiceTokens map[string]string `yaml:"service_tokens"`
	} `yaml:"identity"`
	Backends     []AgentBackend `yaml:"backends"`
	BackendsFrom []BackendsFrom `yaml:"backends_from,omitempty"`
	Resolver     Resolver       `yaml:"resolver,omitempty"`
	Gossip       struct {
		EncryptionKey  string   `yaml:"encryption_key"`
		OverwatchNodes []string `yaml:"overwatch_nodes"`
	} `yaml:"gossip"`
	Heartbeat struct {
		Interval        time.Duration `yaml:"interval"`
		MissedThreshold int           `yaml:"missed_threshold"`
	} `yaml:"heartbeat"`
	Predictive map[string]any `yaml:"predictive,omitempty"`
	DrainTime  time.Duration  `yaml:"drain_time"` // always written: the default of a test is no drain
}

// BackendsFrom is an entry of the key `backends_from`: a pattern of files that list further backends of an agent, and
// their health check.
type BackendsFrom struct {
	File        string      `yaml:"file"`
	HealthCheck HealthCheck `yaml:"health_check"`
}

// AgentBackend is a backend that an agent checks and reports.
type AgentBackend struct {
	Service     string      `yaml:"service"`
	Address     netip.Addr  `yaml:"address"`
	Port        uint16      `yaml:"port"`
	Weight      int         `yaml:"weight"`
	HealthCheck HealthCheck `yaml:"health_check"`
	Target      string      `yaml:"-"` // replaces Address
}

// MarshalYAML writes Target, if it is set, instead of Address.
func (b AgentBackend) MarshalYAML() (any, error) {
	if b.Target == "" {
		type plain AgentBackend
		return plain(b), nil
	}
	return map[string]any{"service": b.Service, "target": b.Target, "port": b.Port, "weight": b.Weight,
		"health_check": b.HealthCheck}, nil
}

// HealthCheck is the key `health_check` of a backend or a service, for agents and nodes.
type HealthCheck struct {
	Enabled          *bool         `yaml:"enabled,omitempty"`
	Type             string        `yaml:"type"`
	Path             string        `yaml:"path"`
	Address          string        `yaml:"address,omitempty"` // address of the probe; default: backend address
	Interval         time.Duration `yaml:"interval"`
	Timeout          time.Duration `yaml:"timeout"`
	FailureThreshold int           `yaml:"failure_threshold"`
	SuccessThreshold int           `yaml:"success_threshold"`
}

// Logging is the key `logging` of either file.
type Logging struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// Listener is the key `metrics` or `api` of either configuration file.
type Listener struct {
	Enabled bool   `yaml:"enabled"`
	Address string `yaml:"address"`
}

// APISection is the key `api` of an OverwatchFile.
type APISection struct {
	Listener `yaml:",inline"`

	More map[string]any `yaml:",inline"` // further keys
}

// writeFile writes a configuration with permissions for only its owner, because it contains secrets.
func writeFile(path string, file any) error {
	text, err := yaml.Marshal(file)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.WriteFile(path, text, 0o600)
}
