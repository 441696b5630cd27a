package logging

import (
	"bytes"
	"log"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// libraryLines bounds the lines of a library that are logged per second.
const libraryLines = 10

// Library returns a logger for a library. What an operator must know of its lines is said elsewhere in our own words,
// so they are logged at debug level; and strangers can cause them, so there are at most libraryLines per second.
func Library(logger zerolog.Logger) *log.Logger { return log.New(&library{logger: logger}, "", 0) }

// TakeStandard makes the standard logger one as Library returns. net/http's client writes to it for each strange frame
// of an HTTP/2 server.
func TakeStandard(logger zerolog.Logger) {
	log.SetFlags(0)
	log.SetOutput(&library{logger: logger})
}

// library takes the lines of a library, one with each Write.
type library struct {
	logger zerolog.Logger

	mu      sync.Mutex
	second  time.Time
	lines   int
	skipped int
}

// Write logs one line, or leaves it out.
func (l *library) Write(line []byte) (int, error) {
	if !l.logger.Debug().Enabled() {
		return len(line), nil
	}
	l.mu.Lock()
	now := time.Now()
	if now.Sub(l.second) >= time.Second {
		l.second, l.lines = now, 0
	}
	l.lines++
	if l.lines > libraryLines {
		l.skipped++
		l.mu.Unlock()
		return len(line), nil
	}
	skipped := l.skipped
	l.skipped = 0
	l.mu.Unlock()
	event := l.logger.Debug()
	if skipped > 0 {
		event.Int("skipped", skipped)
	}
	event.Msg(string(bytes.TrimSpace(line)))
	return len(line), nil
}
