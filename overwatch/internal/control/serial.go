package control

import (
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/store"
)

// SerialsAhead counts the SOA serials stored as given beyond the next. A change is in force at most changeTimeout
// after it was stored, by when its serial, which is a time in seconds, is later by that; and keys change a zone without
// being stored here.
const SerialsAhead = uint32(changeTimeout / time.Second)

// serialBound returns a serial that no zone's serial passes before the bound is stored again.
func serialBound(latest uint32) uint32 { return publish.SerialAfter(latest, time.Now()) + SerialsAhead }

// KeepSerials stores the bound anew where the zones may change and nothing else is stored. If it cannot be stored,
// serials may go back at the next restart: no reason not to answer.
func (s *State) KeepSerials(latest uint32) {
	b := &store.Batch{}
	b.PutSerial(serialBound(latest))
	if err := s.store.Write(b); err != nil {
		s.log.Error().Err(err).Msg("storing how far SOA serials have come: after a restart they may be earlier")
	}
}
