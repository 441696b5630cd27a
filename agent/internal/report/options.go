package report

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Defaults of the configuration's agent.heartbeat.
const (
	DefaultInterval        = 10 * time.Second
	DefaultMissedThreshold = 3
)

// Options are the inputs of New. All are required unless they say otherwise.
type Options struct {
	// Nodes are the overwatch nodes, as host:port. Names are resolved again at every attempt.
	Nodes []string
	// Keys are the gossip keys, 32 octets each. The first encrypts; all decrypt.
	Keys [][]byte
	// Identity seals the agent's messages. AgentID is its common name.
	Identity *identity.Identity
	AgentID  string
	// Epoch is the epoch of this process, from identity.NextEpoch.
	Epoch uint64
	// Region is optional, and so is Version.
	Region, Version string
	// DataDir is the data directory. Certificates of overwatch nodes are pinned in its directory
	// overwatch_pins.
	DataDir string
	// Tokens maps every service of the agent's backends to its token.
	Tokens map[string]string
	// Interval is the time between heartbeats and MissedThreshold how many may fail to come; zero means the default.
	Interval        time.Duration
	MissedThreshold int
	// State returns the state of all backends. It must not block; any goroutine may call it.
	State func() []wire.Backend
	// Figures returns the agent's own measurements; nil means none.
	Figures    func() wire.Figures
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// complete checks the options and fills in defaults. The keys are checked by package frame.
func (o *Options) complete() error {
	if o.Identity == nil || o.State == nil || o.Registerer == nil || o.Epoch == 0 || o.DataDir == "" {
		return errors.New("report: Identity, State, Registerer, Epoch and DataDir must be set")
	}
	if o.AgentID != o.Identity.CommonName {
		return fmt.Errorf(
			"agent.identity.agent_id is %q, but the certificate in data_dir was made for %q: use that id, or delete the "+
				"certificate and its key", o.AgentID, o.Identity.CommonName)
	}
	if len(o.Nodes) == 0 {
		return errors.New("agent.gossip.overwatch_nodes is empty: name at least one overwatch node as host:port")
	}
	for i, node := range o.Nodes {
		if host, _, err := net.SplitHostPort(node); err != nil || host == "" || strings.ContainsAny(node, "/\x00") {
			return fmt.Errorf("agent.gossip.overwatch_nodes: %q: want host:port", node)
		}
		if slices.Contains(o.Nodes[:i], node) {
			return fmt.Errorf("agent.gossip.overwatch_nodes: %q stands there twice", node)
		}
	}
	if err := checkTokens(o.Tokens); err != nil {
		return err
	}
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.MissedThreshold <= 0 {
		o.MissedThreshold = DefaultMissedThreshold
	}
	if o.Figures == nil {
		o.Figures = func() wire.Figures { return wire.Figures{} }
	}
	return nil
}

func checkTokens(tokens map[string]string) error {
	if n := len(tokens); n == 0 || n > wire.MaxServices {
		return fmt.Errorf("the agent has tokens for %d services, must have 1 to %d: see agent.identity.service_token", n,
			wire.MaxServices)
	}
	return nil
}
