package gossip

import (
	"bytes"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// memberLines bounds the lines of memberlist that are logged per second.
const memberLines = 10

// memberLog takes memberlist's log lines. Everything an operator must know is said elsewhere in our own words, so they
// are for debugging only; and strangers can cause them, so their number is bounded.
type memberLog struct {
	logger zerolog.Logger

	mu      sync.Mutex
	second  time.Time
	lines   int
	skipped int
}

// Write logs one line, or leaves it out.
func (m *memberLog) Write(line []byte) (int, error) {
	if !m.logger.Debug().Enabled() {
		return len(line), nil
	}
	m.mu.Lock()
	now := time.Now()
	if now.Sub(m.second) >= time.Second {
		m.second, m.lines = now, 0
	}
	m.lines++
	if m.lines > memberLines {
		m.skipped++
		m.mu.Unlock()
		return len(line), nil
	}
	skipped := m.skipped
	m.skipped = 0
	m.mu.Unlock()
	event := m.logger.Debug()
	if skipped > 0 {
		event.Int("skipped", skipped)
	}
	event.Msg(string(bytes.TrimSpace(line)))
	return len(line), nil
}
