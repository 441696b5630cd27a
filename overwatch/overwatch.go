// Package overwatch assembles an overwatch node: it receives agent reports, checks backends, decides the addresses in
// DNS answers, and explains the decisions to operators. The package determines the order in which the node's parts are
// opened, run and stopped; the packages below internal do the work. The programs gslb-overwatch and gslb call Run,
// Validate and Actions.
//
// A data directory allows only one running node. Two nodes in a process share no other resource.
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
	// Log receives the log; nil: standard error. Several goroutines write to it.
	Log io.Writer
}

// Run runs an overwatch node until ctx ends. It then completes the current answers and returns nil. SIGHUP reloads the
// configuration. Configuration errors at the start are of type settings.Problems.
func Run(ctx context.Context, o Options) error {
	hangups := make(chan os.Signal, 1) // signals during a waiting signal cause the same reload
	// A signal during the start also waits. Without Notify, it would end the process.
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
		return nil // stopped during the start
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
