package monitor

import (
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// A failure and the return from it are logged when they happen, but a backend that flaps ten times a second must not
// fill a disk: after journalBurst entries there is one more per journalInterval. Changes in between are counted,
// and the next entry has their number.
const (
	journalBurst    = 4
	journalInterval = 10 * time.Second
)

// journal logs the changes of one backend, with a limited rate. It belongs to one goroutine.
type journal struct {
	log zerolog.Logger
	// left is the number of entries that may still be written at once, as of filled.
	left   int
	filled time.Time
	// changes is the number of changes that were not logged yet.
	changes int
	// blind is true while this host cannot make checks; told is true once that is logged.
	blind, told bool
}

// note takes the result of a check. It logs changes, at once or with a later check.
func (j *journal) note(b *wire.Backend, r check.Result, changed bool) {
	if changed {
		j.changes++
	}
	j.blind = r.Outcome == check.Unknown
	if j.changes == 0 && j.blind == j.told || !j.may(time.Now()) {
		return
	}
	if j.blind != j.told {
		j.tellBlindness(r)
	}
	if j.changes > 0 {
		j.tellState(b)
	}
}

// may reports whether an entry may be written now, and if so counts it.
func (j *journal) may(now time.Time) bool {
	if j.filled.IsZero() {
		j.left, j.filled = journalBurst, now
	}
	for j.left < journalBurst && now.Sub(j.filled) >= journalInterval {
		j.left++
		j.filled = j.filled.Add(journalInterval)
	}
	if j.left == journalBurst {
		j.filled = now
	}
	if j.left == 0 {
		return false
	}
	j.left--
	return true
}

func (j *journal) tellBlindness(r check.Result) {
	j.told = j.blind
	if j.blind {
		j.log.Warn().Str("reason", r.Err).Msg("the health check cannot be made; the backend keeps its state")
		return
	}
	j.log.Info().Msg("the health check can be made again")
}

func (j *journal) tellState(b *wire.Backend) {
	event := j.log.Info()
	if b.Claim == wire.ClaimUnhealthy {
		event = j.log.Warn().Str("reason", b.LastError)
	}
	if j.changes > 1 {
		event = event.Int("changes", j.changes)
	}
	event.Msg("backend is " + b.Claim.String())
	j.changes = 0
}
