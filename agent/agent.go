// Package agent is the program that runs next to an application. It checks the configured backends and reports their
// health to every overwatch node. Run connects the parts and determines the order in which they start and stop. Command
// gslb-agent and the launcher gslb call it.
//
// Calls of Run share only the data directory, which excludes a second agent. The package never decides a DNS answer:
// overwatch nodes do.
package agent

import (
	"context"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/datadir"
	"gslb.internal/agent/internal/metrics"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/agent/internal/predict"
	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/model"
	"gslb.internal/shared/service"
)

// Files in the data directory.
const (
	certificateFile = "agent.crt"
	keyFile         = "agent.key"
	epochFile       = "agent.epoch"
)

// Options are the inputs of Run.
type Options struct {
	// ConfigPath is the path of the configuration file.
	ConfigPath string
	// Log receives the log; nil means standard error. It must allow writes from several goroutines.
	Log io.Writer
}

// Run runs an agent until ctx ends. Then it drains its backends for agent.drain_time, or until another SIGINT or
// SIGTERM, deregisters from the overwatch nodes within 2 s, and returns nil. SIGUSR2 ends it without a drain and
// without deregistering, depending on agent.drain_on_stop: the next process reports the same backends. SIGHUP reloads
// overwatch nodes, backends, checks and tokens. An invalid configuration at the start is an error of type
// settings.Problems.
func Run(ctx context.Context, o Options) error {
	hangups := make(chan os.Signal, 1) // further signals during the wait are for the same reload
	// A signal during the start also waits. Without Notify, it would end the process.
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	handover, stopHandover := handovers()
	defer stopHandover()
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
	logging.TakeStandard(logger)
	build := buildinfo.Get()
	for _, message := range cfg.Warnings() {
		logger.Warn().Msg(message)
	}

	dir, err := datadir.Open(cfg.DataDir, program())
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
		logger.Warn().Err(err).Msg(
			"the start could not be remembered; if the clock is set back before the next one, overwatch nodes will refuse " +
				"the agent")
	}

	figures := newFigures(build, id.NotAfter)
	userAgent := "gslb/" + build.Version
	found := newDiscovery(cfg.Agent.Resolver, componentLogger(logger, "discovery"))
	found.setConfig(cfg)
	all, _ := found.allBackends()
	watched, err := monitor.New(monitor.Options{
		Backends: all, UserAgent: userAgent, Registerer: figures, Logger: componentLogger(logger, "monitor"),
	})
	if err != nil {
		return err
	}
	warnings, err := predict.New(predict.Options{
		Predictive: cfg.Agent.Predictive, UserAgent: userAgent, Meter: predict.NewGauge(),
		Failures:   func() map[predict.Target]uint64 { return failures(watched) },
		Registerer: figures, Logger: componentLogger(logger, "predict"),
	})
	if err != nil {
		return err
	}
	view := &outlook{checks: watched, warnings: warnings, noticeOver: cfg.Agent.DrainTime}
	// The parts continue during the drain.
	running, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	g, running := errgroup.WithContext(running)
	if cfg.Metrics.Enabled {
		server, err := metrics.Listen(cfg.Metrics.Address, figures, componentLogger(logger, "metrics"))
		if err != nil {
			return err
		}
		defer server.Close()
		logger.Info().Stringer("address", server.Addr()).Msg("serving metrics")
		g.Go(func() error { return server.Run(running) })
	}
	reporter, err := report.New(report.Options{
		Nodes: cfg.Agent.Gossip.OverwatchNodes, Keys: cfg.GossipKeys(),
		Identity: id, Epoch: epoch, NextEpoch: nextEpoch(cfg.DataDir),
		Region: cfg.Agent.Identity.Region, Version: build.Version,
		DataDir: cfg.DataDir, Tokens: cfg.Tokens(),
		Interval: cfg.Agent.Heartbeat.Interval, MissedThreshold: cfg.Agent.Heartbeat.MissedThreshold,
		State: view.backends, Figures: view.figures,
		Registerer: figures, Logger: componentLogger(logger, "report"),
	})
	if err != nil {
		return err
	}
	again := &reload{
		path: o.ConfigPath, started: cfg, found: found, view: view, reporter: reporter, outcomes: newReloads(),
		notices: noticeFile{path: filepath.Join(cfg.DataDir, noticesName)},
		logger:  componentLogger(logger, "reload"),
	}
	again.readNotices() // before the first report
	figures.MustRegister(registeredGauge(watched.Snapshot, reporter.Nodes), again.outcomes, found.count)
	logger.Info().Str("version", build.Version).Str("agent_id", id.CommonName).Int("backends",
		len(all)).Msg("agent started")
	end := &farewell{outlook: view, reporter: reporter, when: cfg.Agent.DrainOnStop, over: cfg.Agent.DrainTime,
		handover: handover, logger: logger}
	g.Go(func() error { return reporter.Run(running) })
	g.Go(func() error { return found.book.Run(running) })
	g.Go(func() error { return watched.Run(running, reporter.ReportChange) })
	g.Go(func() error { return warnings.Run(running, reporter.ReportWarnings) })
	g.Go(func() error { return watchExpiry(running, id.NotAfter, logger) })
	g.Go(func() error {
		return keepStatus(running, cfg.DataDir, func() status {
			return takeStatus(id, view.backends(), reporter.Nodes(),
				time.Now())
		}, logger)
	})
	g.Go(func() error { return again.run(running, hangups) })
	g.Go(func() error {
		end.wait(ctx, running)
		finish()
		return nil
	})
	g.Go(func() error { // the watchdog detects deadlocks of checks and reports
		if err := service.Watch(running,
			func(context.Context) error { view.backends(); reporter.Nodes(); return nil }); err != nil {
			logger.Error().Err(err).Msg("notifying the watchdog of the service manager failed")
		}
		return nil
	})
	notify(service.Ready, logger)
	err = g.Wait()
	logger.Info().Msg("agent stopped")
	return err
}

// nextEpoch returns a function that returns a later epoch of this process, for report.Options.
func nextEpoch(dataDir string) func(atLeast uint64) uint64 {
	return func(atLeast uint64) uint64 {
		now := time.Now()
		if wanted := time.UnixMilli(int64(atLeast)); wanted.After(now) {
			now = wanted
		}
		epoch, _ := identity.NextEpoch(filepath.Join(dataDir, epochFile), now) // usable even if the file could not be written
		return max(epoch, atLeast)
	}
}

// program returns the name and version of this program.
func program() string { return "gslb-agent " + buildinfo.Get().Version }

// notify sends a state to the service manager, and logs an error.
func notify(state func() error, logger zerolog.Logger) {
	if err := state(); err != nil {
		logger.Warn().Err(err).Msg("the service manager does not hear")
	}
}

// componentLogger returns the logger of a component.
func componentLogger(logger zerolog.Logger, name string) zerolog.Logger {
	return logger.With().Str("component", name).Logger()
}

// watched returns the backend b with an address and a share of the weight.
func watched(b *config.Backend, at netip.Addr, weight int) monitor.Backend {
	return monitor.Backend{Service: b.Service, Address: at, Port: b.Port, Weight: weight, Check: b.HealthCheck.Spec(),
		WatchSocket:     b.HealthCheck.Watch == "" || b.HealthCheck.Watch == model.WatchAuto,
		WatchConnection: b.HealthCheck.Watch == model.WatchConnection}
}

// monitored returns the configured backends with an address.
func monitored(configured []config.Backend) []monitor.Backend {
	list := make([]monitor.Backend, 0, len(configured))
	for i := range configured {
		if b := &configured[i]; b.Target == "" {
			list = append(list, watched(b, b.Address, b.Weight))
		}
	}
	return list
}
