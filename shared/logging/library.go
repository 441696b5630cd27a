package logging

import (
	"bytes"
	"log"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// libraryLines is the maximum number of logged lines of a library per second.
const libraryLines = 10

// Library returns a logger for a library. It logs at debug level, because the program itself logs the relevant events
// of the library, and at most libraryLines per second, because unauthorized senders can cause such lines.
func Library(logger zerolog.Logger) *log.Logger { return log.New(&library{logger: logger}, "", 0) }

// TakeStandard makes the standard logger a Library logger. The client of net/http writes to the standard logger for
// each invalid frame of an HTTP/2 server.
func TakeStandard(logger zerolog.Logger) {
	log.SetFlags(0)
	log.SetOutput(&library{logger: logger})
}

// library receives the lines of a library, one per Write.
type library struct {
	logger zerolog.Logger

	mu      sync.Mutex
	second  time.Time
	lines   int
	skipped int
}

// Write logs or drops a line.
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
