package harness

import (
	"fmt"
	"net/netip"
	"path/filepath"
)

// Agent is a gslb-agent that reports to the nodes given at its creation.
type Agent struct {
	*Unit
	File AgentFile
	Path string         // configuration file
	Prom netip.AddrPort // address of /metrics
}

// AddAgent prepares an agent for the backends. It has the token of each of their services.
func (c *Cluster) AddAgent(name, region string, nodes []*Node, backends []AgentBackend) (*Agent, error) {
	dir, err := c.directory(name)
	if err != nil {
		return nil, err
	}
	held, err := Reserve([]netip.Addr{localhost}, "tcp")
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", name, err)
	}
	a := &Agent{Path: filepath.Join(dir, "agent.yaml"), Prom: held.On(localhost)}
	f := &a.File
	f.Mode, f.DataDir = "agent", filepath.Join(dir, "data")
	f.Logging = Logging{Level: "info", Format: "console"}
	f.Metrics = Listener{Enabled: true, Address: a.Prom.String()}
	id := &f.Agent.Identity
	id.AgentID, id.Region, id.ServiceTokens = name, region, map[string]string{}
	for _, b := range backends {
		id.ServiceTokens[b.Service] = c.Tokens[b.Service]
	}
	f.Agent.Backends = backends
	f.Agent.Gossip.EncryptionKey = c.GossipKey
	for _, n := range nodes {
		f.Agent.Gossip.OverwatchNodes = append(f.Agent.Gossip.OverwatchNodes, n.Gossip.String())
	}
	f.Agent.Heartbeat.Interval, f.Agent.Heartbeat.MissedThreshold = c.Timing.Heartbeat, c.Timing.MissedThreshold
	a.Unit = c.newUnit(name, []string{c.binaries.Agent, "--config", a.Path}, held)
	a.agent = true
	return a, nil
}

// Start writes the configuration in File and starts the agent.
func (a *Agent) Start() error {
	if err := a.WriteFile(); err != nil {
		return err
	}
	return a.Unit.Start()
}

// WriteFile writes the configuration in File.
func (a *Agent) WriteFile() error { return writeFile(a.Path, a.File) }
