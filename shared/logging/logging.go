// Package logging makes the one logger of a process from its configuration. It holds no global state: the root
// package calls New once and hands sub-loggers down.
package logging

import (
	"fmt"
	"io"
	"slices"
	"strings"
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
	Level  string `key:"level"`
	Format string `key:"format"`
}

// New returns a logger that writes to w with a timestamp on each line. It fails when level or format is unknown.
// w is written to by one goroutine at a time only if it is itself safe for that; os.Stderr is.
func New(cfg Config, w io.Writer) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(cfg.Level)
	if err != nil || !slices.Contains(levels, cfg.Level) {
		return zerolog.Nop(), fmt.Errorf("logging.level: %q: use one of %s", cfg.Level, strings.Join(levels, ", "))
	}
	switch cfg.Format {
	case FormatJSON:
	case FormatConsole:
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.RFC3339, NoColor: true}
	default:
		return zerolog.Nop(), fmt.Errorf("logging.format: %q: use one of %s", cfg.Format, strings.Join(Formats(), ", "))
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger(), nil
}
