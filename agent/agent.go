// Package agent is the program that runs next to an application: it checks the backends it is configured for and reports
// what it finds to every overwatch node. Run is the whole of it; this package wires the parts and decides in which order
// they begin and end.
//
// Nothing here is shared between two calls of Run but the data directory, of which the second is kept out.
package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/datadir"
	"gslb.internal/agent/internal/metrics"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/wire"
)

// Files in the data directory.
const (
	certificateFile = "agent.crt"
	keyFile         = "agent.key"
	epochFile       = "agent.epoch"
)

// Options is what Run needs.
type Options struct {
	// ConfigPath is the configuration file.
	ConfigPath string
	// Log is where the log goes; nil means standard error. Several goroutines write to it.
	Log io.Writer
}

// Run is an agent until ctx ends; then it takes its backends out of the overwatch nodes' answers, within some 2 s, and
// returns nil. What is wrong with the configuration is of type settings.Problems.
func Run(ctx context.Context, o Options) error {
	cfg, err := config.Load(o.ConfigPath)
	if err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = os.Stderr
	}
	logger, err := logging.New(cfg.Logging, o.Log)
	if err != nil {
		return err
	}
	build := buildinfo.Get()
	for _, message := range slices.Concat(cfg.Warnings(), cfg.Inactive()) {
		logger.Warn().Msg(message)
	}

	dir, err := datadir.Open(cfg.DataDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	id, err := loadIdentity(cfg, logger)
	if err != nil {
		return err
	}
	epoch, err := identity.NextEpoch(filepath.Join(cfg.DataDir, epochFile), time.Now())
	if err != nil {
		logger.Warn().Err(err).Msg("the start could not be remembered; if the clock is set back before the next one, overwatch nodes will refuse the agent")
	}

	figures, err := newFigures(build, id.NotAfter)
	if err != nil {
		return err
	}
	watched, err := monitor.New(monitor.Options{
		Backends: backends(cfg), UserAgent: "gslb/" + build.Version, Registerer: figures, Logger: part(logger, "monitor"),
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	if cfg.Metrics.Enabled {
		server, err := metrics.Listen(cfg.Metrics.Address, figures, part(logger, "metrics"))
		if err != nil {
			return err
		}
		defer server.Close()
		logger.Info().Stringer("address", server.Addr()).Msg("serving metrics")
		g.Go(func() error { return server.Run(ctx) })
	}
	reporter, err := report.New(report.Options{
		Nodes: cfg.Agent.Gossip.OverwatchNodes, Keys: cfg.GossipKeys(),
		Identity: id, AgentID: id.CommonName, Epoch: epoch, Region: cfg.Agent.Identity.Region, Version: build.Version,
		DataDir: cfg.DataDir, Tokens: cfg.Tokens(),
		Interval: cfg.Agent.Heartbeat.Interval, MissedThreshold: cfg.Agent.Heartbeat.MissedThreshold,
		State: watched.Snapshot, Figures: func() wire.Figures { return wire.Figures{ChecksTotal: watched.Checks()} },
		Registerer: figures, Logger: part(logger, "report"),
	})
	if err != nil {
		return err
	}
	if err := figures.Register(registeredGauge(watched.Snapshot, reporter.Nodes)); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	logger.Info().Str("version", build.Version).Str("agent_id", id.CommonName).Int("backends", len(cfg.Agent.Backends)).Msg("agent started")
	g.Go(func() error { return reporter.Run(ctx) })
	g.Go(func() error { return watched.Run(ctx, reporter.Changed) })
	err = g.Wait()
	logger.Info().Msg("agent stopped")
	return err
}

// part returns the logger of one component.
func part(logger zerolog.Logger, name string) zerolog.Logger {
	return logger.With().Str("component", name).Logger()
}

// backends are those of the configuration, as the monitor takes them.
func backends(cfg *config.Config) []monitor.Backend {
	list := make([]monitor.Backend, len(cfg.Agent.Backends))
	for i, b := range cfg.Agent.Backends {
		list[i] = monitor.Backend{Service: b.Service, Address: b.Address, Port: b.Port, Weight: b.Weight, Check: b.HealthCheck.Spec()}
	}
	return list
}
