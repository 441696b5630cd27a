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

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
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
	hangups := make(chan os.Signal, 1)     // signals that come while one is waiting are for the same reload
	signal.Notify(hangups, syscall.SIGHUP) // one that comes while the node starts waits too; unwanted, it would end the process
	defer signal.Stop(hangups)
	serve := startQuickly()
	defer serve()
	cfg, err := load(o.ConfigPath)
	if err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = os.Stderr
	}
	logger, control, err := logging.Adjustable(cfg.Logging, o.Log)
	if err != nil {
		return err
	}
	n, err := newNode(ctx, cfg, o.ConfigPath, logger, control)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // it was stopped while it was starting
	case err != nil:
		return err
	}
	serve()
	defer spread()() // only now, as there is a socket per core
	err = n.run(ctx, hangups)
	if !errors.Is(err, errHanging) {
		n.close()
	}
	return err
}

// load reads a configuration and checks also what only the makers of DNS answers can know.
func load(path string) (*config.Config, error) { return config.Load(path, checkAnswers) }

// validateText finds what is wrong with the text of a configuration, by itself.
func validateText(text string) settings.Problems { return config.CheckText(text, checkAnswers) }

func checkAnswers(c *config.Config) settings.Problems {
	problems, cautions := publish.Examine(dnsSettings(c, nil))
	c.Warn(cautions...)
	return append(problems, checkPlaces(c)...)
}
