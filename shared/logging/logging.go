// Package logging provides the logger of a process and its configuration. The root package of each program calls New or
// Adjustable once and passes sub-loggers on. It has no global state, replaces the standard logger only with
// TakeStandard, and opens no file.
package logging

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
)

// Formats of the log.
const (
	FormatAuto    = "auto"    // console on a terminal, else json
	FormatJSON    = "json"    // one JSON object per line, for collectors
	FormatConsole = "console" // aligned text, for people
)

var levels = []string{"debug", "info", "warn", "error"}

// Levels lists the values of logging.level, the most verbose first.
func Levels() []string { return slices.Clone(levels) }

// Formats lists the values of logging.format.
func Formats() []string { return []string{FormatAuto, FormatJSON, FormatConsole} }

// Config is the logging block in the configuration of both roles.
type Config struct {
	// `debug`, `info`, `warn` or `error`.
	Level string `key:"level" default:"info"`
	// `json`: one object per line; `console`: text for people; `auto`: `console` on a terminal, else `json`.
	Format string `key:"format" default:"auto"`
}

// New returns a logger that writes to w, with a timestamp on each line. It fails if level or format is unknown. w must
// allow concurrent writes, as os.Stderr does. The text has colors if w is a terminal and the environment variable
// NO_COLOR is empty.
func New(cfg Config, w io.Writer) (zerolog.Logger, error) {
	logger, _, err := Adjustable(cfg, w)
	return logger, err
}

// Adjustable is New, and also returns a Control for the logger and all loggers derived from it.
func Adjustable(cfg Config, w io.Writer) (zerolog.Logger, *Control, error) {
	terminal := isTerminal(w)
	control := &Control{lines: w, terminal: terminal, text: zerolog.ConsoleWriter{Out: w, TimeFormat: time.RFC3339,
		NoColor: !terminal || os.Getenv("NO_COLOR") != ""}}
	if err := control.Set(cfg); err != nil {
		return zerolog.Nop(), nil, err
	}
	return zerolog.New(control).Sample(control).With().Timestamp().Logger(), control, nil
}

// Control changes level and format of the log while the program runs. Any goroutine may use it.
type Control struct {
	least   atomic.Int32 // level
	console atomic.Bool

	lines    io.Writer
	text     zerolog.ConsoleWriter
	terminal bool // lines is a terminal
}

// isTerminal reports whether a writer is a file that is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// Set applies a configuration. A configuration with an unknown level or format is an error and changes nothing.
func (c *Control) Set(cfg Config) error {
	level, err := zerolog.ParseLevel(cfg.Level)
	if err != nil || !slices.Contains(levels, cfg.Level) {
		return fmt.Errorf("logging.level: %q: use one of %s", cfg.Level, strings.Join(levels, ", "))
	}
	if !slices.Contains(Formats(), cfg.Format) {
		return fmt.Errorf("logging.format: %q: use one of %s", cfg.Format, strings.Join(Formats(), ", "))
	}
	c.least.Store(int32(level))
	c.console.Store(cfg.Format == FormatConsole || cfg.Format == FormatAuto && c.terminal)
	return nil
}

// Sample implements zerolog.Sampler: it decides by level before a line is built.
func (c *Control) Sample(at zerolog.Level) bool { return int32(at) >= c.least.Load() }

// Write implements io.Writer for the JSON lines of the log.
func (c *Control) Write(line []byte) (int, error) {
	if c.console.Load() {
		return c.text.Write(line)
	}
	return c.lines.Write(line)
}
