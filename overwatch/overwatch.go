// Package overwatch is the program that answers DNS: it hears agents, checks backends itself, decides which addresses
// answer, and lets an operator see why. Run is the whole of it; this package wires the parts and decides in which
// order they begin and end.
//
// Nothing here is shared between two calls of Run but the data directory, of which the second is kept out.
package overwatch

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/leaf/heap"
	"gslb.internal/shared/logging"
)

// Options is what Run needs.
type Options struct {
	// ConfigPath is the configuration file.
	ConfigPath string
	// Log is where the log goes; nil means standard error. Several goroutines write to it.
	Log io.Writer
}

// Run is an overwatch node until ctx ends; then it finishes what it is answering and returns nil. SIGHUP makes it read
// its configuration again. What is wrong with the configuration at the start is of type settings.Problems.
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
	n, err := newNode(ctx, cfg, o.ConfigPath, logger, level)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // it was stopped while it was starting
	case err != nil:
		return err
	}
	defer spread()() // only now, as there is a socket per core
	err = n.run(ctx, hangups)
	if !errors.Is(err, errHanging) {
		n.close()
	}
	return err
}
