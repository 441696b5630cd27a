// Package overwatch is one overwatch node: it hears agents, checks backends itself, decides which addresses answer DNS
// queries, and lets an operator see why. It owns the order in which the node's parts are opened, run and stopped. The
// programs gslb-overwatch and gslb call Run, Validate and Actions. The package itself answers, checks and decides
// nothing: the packages below internal do.
//
// A second node on the same data directory is refused. Two nodes in one process share nothing else.
package overwatch

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"gslb.internal/overwatch/internal/answer/dnsserver"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/leaf/heap"
	"gslb.internal/shared/logging"
)

// Options configures Run.
type Options struct {
	// ConfigPath is the configuration file.
	ConfigPath string
	// Log receives the log; nil means standard error. Several goroutines write to it.
	Log io.Writer
}

// Run runs an overwatch node until ctx ends; then it finishes the answers under way and returns nil. SIGHUP makes it
// read its configuration again. Faults of the configuration at the start are of type settings.Problems.
func Run(ctx context.Context, o Options) error {
	hangups := make(chan os.Signal, 1) // signals that come while one is waiting are for the same reload
	// one that comes while the node starts waits too; unwanted, it would end the process
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	heap.Bound()
	cfg, err := control.Load(o.ConfigPath)
	if err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = os.Stderr
	}
	logger, level, err := logging.Adjustable(cfg.Logging, o.Log)
	if err != nil {
		return err
	}
	logging.TakeStandard(logger)
	n, err := newNode(ctx, cfg, o.ConfigPath, logger, level)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // it was stopped while it was starting
	case err != nil:
		return err
	}
	defer dnsserver.SpreadThreads()()
	err = n.run(ctx, hangups)
	if !errors.Is(err, errHanging) {
		n.close()
	}
	return err
}
