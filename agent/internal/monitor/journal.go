package monitor

import (
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/check"
	"gslb.internal/shared/tokenbucket"
	"gslb.internal/shared/wire"
)

// Failures and recoveries are logged immediately, but a backend that flaps ten times per second must not fill a disk.
// After journalBurst entries, one entry per journalInterval is logged. The next entry has the number of changes since
// the previous entry.
const (
	journalBurst    = 4
	journalInterval = 10 * time.Second
)

// newJournal returns a journal without entries.
func newJournal(log zerolog.Logger) journal {
	limit := tokenbucket.Limit{Interval: journalInterval, Burst: journalBurst}
	return journal{log: log, entries: tokenbucket.New(limit)}
}

// journal logs the changes of a backend at a limited rate. It belongs to a single goroutine.
type journal struct {
	log zerolog.Logger
	// entries bounds the rate of log entries.
	entries tokenbucket.Bucket
	// changes is the number of changes that were not logged yet.
	changes int
	// blind is true while this host cannot perform checks. told is the last logged value of blind.
	blind, told bool
}

// logResult processes the result of a check. It logs changes immediately or with a later check.
func (j *journal) logResult(b *wire.Backend, r check.Result, changed bool) {
	if changed {
		j.changes++
	}
	j.blind = r.Outcome == check.Unknown
	if j.changes == 0 && j.blind == j.told || !j.entries.Take(time.Now()) {
		return
	}
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
		j.log.Warn().Str("reason", r.Err).Msg("the health check cannot run; the state of the backend is unchanged")
		return
	}
	j.log.Info().Msg("the health check runs")
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
