package control

import (
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/store"
)

// SerialsAhead is the number of SOA serials after the next one that are stored as given. A change is in force at most
// changeTimeout after it was stored, so its serial, a time in seconds, is later by at most that. Changes of keys give
// serials that are not stored here.
const SerialsAhead = uint32(changeTimeout / time.Second)

// serialBound returns an upper bound for the serials of all zones until the bound is stored again.
func serialBound(latest uint32) uint32 { return publish.SerialAfter(latest, time.Now()) + SerialsAhead }

// KeepSerials stores a new bound for serials, for changes of zones that store nothing else. If it cannot be stored,
// serials may go back at the next restart; answers go on.
func (s *State) KeepSerials(latest uint32) {
	b := &store.Batch{}
	b.PutSerial(serialBound(latest))
	if err := s.store.Write(b); err != nil {
		s.log.Error().Err(err).Msg("storing how far SOA serials have come: after a restart they may be earlier")
	}
}
