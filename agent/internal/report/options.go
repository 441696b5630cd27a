package report

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Options are the inputs of New, validated by package config. Every field is required unless its comment says that it
// is optional.
type Options struct {
	// Nodes are the overwatch nodes, as host:port. Names are resolved at every attempt.
	Nodes []string
	// Keys are the gossip keys, 32 octets each. The first encrypts; all decrypt.
	Keys [][]byte
	// Identity seals the agent's messages. Its common name is the agent's id.
	Identity *identity.Identity
	// Epoch is the epoch of this process, from identity.NextEpoch.
	Epoch uint64
	// NextEpoch returns a new epoch of this process, above Epoch and at least atLeast. nil: it is atLeast.
	NextEpoch func(atLeast uint64) uint64
	// Region is optional, and so is Version.
	Region, Version string
	// DataDir is the data directory. Certificates of overwatch nodes are pinned in its directory
	// overwatch_pins.
	DataDir string
	// Tokens maps every service of the agent's backends to its token, wire.MaxServices at most.
	Tokens map[string]string
	// Interval is the time between heartbeats. MissedThreshold is the number of missed heartbeats after which the agent is
	// lost.
	Interval        time.Duration
	MissedThreshold int
	// State returns the state of all backends. It must not block; any goroutine may call it.
	State func() []wire.Backend
	// Figures returns the agent's own measurements. Optional.
	Figures    func() wire.Figures
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// complete validates the options that are required for the start, and sets defaults. Package frame validates the keys.
func (o *Options) complete() error {
	if o.Identity == nil || o.State == nil || o.Registerer == nil || o.Epoch == 0 || o.DataDir == "" || o.Interval <= 0 {
		return errors.New("report: Identity, State, Registerer, Epoch, DataDir and Interval must be set")
	}
	if o.NextEpoch == nil {
		o.NextEpoch = func(atLeast uint64) uint64 { return atLeast }
	}
	if o.Figures == nil {
		o.Figures = func() wire.Figures { return wire.Figures{} }
	}
	return nil
}
