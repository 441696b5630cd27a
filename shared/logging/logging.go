// Package logging makes the one logger of a process from its configuration. It holds no global state: the root
// package calls New once and hands sub-loggers down.
package logging

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Defaults of the logging keys.
const (
	DefaultLevel  = "info"
	DefaultFormat = FormatJSON
)

// Formats of the log.
const (
	FormatJSON    = "json"    // one JSON object per line, for collectors
	FormatConsole = "console" // aligned text, for people
)

var levels = []string{"debug", "info", "warn", "error"}

// Levels are the values that logging.level may have, from most to least talkative.
func Levels() []string { return slices.Clone(levels) }

// Formats are the values that logging.format may have.
func Formats() []string { return []string{FormatJSON, FormatConsole} }

// Config is the logging block of both roles' configuration.
type Config struct {
	// `debug`, `info`, `warn` or `error`.
	Level string `key:"level" default:"info"`
	// `json`: one object per line; `console`: text for people.
	Format string `key:"format" default:"json"`
}

// New returns a logger that writes to w with a timestamp on each line. It fails when level or format is unknown.
// w is written to by one goroutine at a time only if it is itself safe for that; os.Stderr is.
func New(cfg Config, w io.Writer) (zerolog.Logger, error) {
	logger, _, err := Adjustable(cfg, w)
	return logger, err
}

// Adjustable is New with a Control, for the logger and all that are derived from it.
func Adjustable(cfg Config, w io.Writer) (zerolog.Logger, *Control, error) {
	control := &Control{lines: w, text: zerolog.ConsoleWriter{Out: w, TimeFormat: time.RFC3339, NoColor: true}}
	if err := control.Set(cfg); err != nil {
		return zerolog.Nop(), nil, err
	}
	return zerolog.New(control).Sample(control).With().Timestamp().Logger(), control, nil
}

// Control changes what is logged and how while the program runs. It may be used by any goroutine.
type Control struct {
	least   atomic.Int32 // level
	console atomic.Bool

	lines io.Writer
	text  zerolog.ConsoleWriter
}

// Set puts a configuration into force; one with an unknown level or format changes nothing.
func (c *Control) Set(cfg Config) error {
	level, err := zerolog.ParseLevel(cfg.Level)
	if err != nil || !slices.Contains(levels, cfg.Level) {
		return fmt.Errorf("logging.level: %q: use one of %s", cfg.Level, strings.Join(levels, ", "))
	}
	if !slices.Contains(Formats(), cfg.Format) {
		return fmt.Errorf("logging.format: %q: use one of %s", cfg.Format, strings.Join(Formats(), ", "))
	}
	c.least.Store(int32(level))
	c.console.Store(cfg.Format == FormatConsole)
	return nil
}

// Sample implements zerolog.Sampler, which is asked before a line is made.
func (c *Control) Sample(at zerolog.Level) bool { return int32(at) >= c.least.Load() }

// Write implements io.Writer for the lines, which are JSON.
func (c *Control) Write(line []byte) (int, error) {
	if c.console.Load() {
		return c.text.Write(line)
	}
	return c.lines.Write(line)
}
