package monitor

import (
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// journalInterval is the least time between two log lines about one backend: one that flaps ten times a second must not
// fill a disk. What happens in between is counted and told with the next line.
const journalInterval = 10 * time.Second

// journal logs the changes of one backend. It is used by one goroutine.
type journal struct {
	log  zerolog.Logger
	last time.Time // of the newest line
	// changes is how many changes have not been told.
	changes int
	// blind is true while checks cannot be made here; told says that it was logged.
	blind, told bool
}

// note takes the result of a check and logs what is new, now or after a later check.
func (j *journal) note(b *wire.Backend, r check.Result, changed bool) {
	if changed {
		j.changes++
	}
	j.blind = r.Outcome == check.Unknown
	news := j.changes > 0 || j.blind != j.told
	if !news || time.Since(j.last) < journalInterval {
		return
	}
	j.last = time.Now()
	if j.blind != j.told {
		j.tellBlindness(r)
	}
	if j.changes > 0 {
		j.tellState(b)
	}
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
