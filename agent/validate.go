package agent

import (
	"os"
	"strings"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/datadir"
	"gslb.internal/agent/internal/metrics"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/settings"
)

// Cautions returns warnings about valid but risky settings of a configuration, and problems in the files of
// agent.backends_from, one sentence each. It returns nil if it cannot load the configuration.
func Cautions(path string) []string {
	cfg, err := config.Load(path)
	if err != nil {
		return nil
	}
	cautions := cfg.Warnings()
	for i := range cfg.Agent.BackendsFrom {
		from := &cfg.Agent.BackendsFrom[i]
		for _, path := range from.Files() {
			if _, err := cfg.ReadBackends(path, from); err != nil {
				cautions = append(cautions, strings.Split(err.Error(), "\n")...)
			}
		}
	}
	return cautions
}

// Validate returns all problems that would prevent the start of an agent with this configuration, as settings.Problems,
// or nil. It has no side effects, and a running agent may use the same data directory.
func Validate(path string) error {
	cfg, err := config.Load(path)
	if err != nil {
		return err
	}
	var found settings.Problems
	if info, err := os.Stat(cfg.DataDir); err == nil && !info.IsDir() {
		found = append(found, settings.Problem{File: path, Key: "data_dir", Value: cfg.DataDir,
			Message: "is a file: name a directory"})
	} else if err := datadir.CheckSchema(cfg.DataDir); err != nil {
		found = append(found, settings.Problem{File: path, Key: "data_dir", Value: cfg.DataDir, Message: err.Error()})
	}
	if err := monitor.Check(monitored(cfg.Agent.Backends)); err != nil {
		found = append(found, settings.Problem{File: path, Key: "agent.backends",
			Message: strings.TrimPrefix(err.Error(), "agent.backends: ")})
	}
	// The running agent listens on the address itself.
	if cfg.Metrics.Enabled && !datadir.InUse(cfg.DataDir) {
		if err := metrics.Try(cfg.Metrics.Address); err != nil {
			found = append(found, settings.Problem{File: path, Key: "metrics.address", Value: cfg.Metrics.Address,
				Message: err.Error()})
		}
	}
	if len(found) > 0 {
		return found
	}
	return nil
}
