package api

// GossipConfig are a node's gossip settings, without its keys.
type GossipConfig struct {
	Enabled           bool     `json:"enabled"`
	BindAddress       string   `json:"bind_address"`
	BindPort          int      `json:"bind_port"`
	ClusterName       string   `json:"cluster_name"` // empty: every node with the key is in the cluster
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
