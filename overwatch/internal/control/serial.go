package control

import (
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/store"
)

// SerialsAhead is the number of SOA serials after the next serial that are stored as used. A serial is a time in
// seconds. A change is applied at most changeTimeout after it was stored, so that its serial exceeds the next serial by
// at most this number. Serials of key changes are not stored here.
const SerialsAhead = uint32(changeTimeout / time.Second)

// serialBound returns an upper bound for the serials of all zones until the next bound is stored.
func serialBound(latest uint32) uint32 { return publish.SerialAfter(latest, time.Now()) + SerialsAhead }

// KeepSerials stores a new bound for serials, for changes of zones that store no other object. After a failure, serials
// can decrease at the next restart; answers are not affected.
func (s *State) KeepSerials(latest uint32) {
	b := &store.Batch{}
	b.PutSerial(serialBound(latest))
	if err := s.store.Write(b); err != nil {
		s.log.Error().Err(err).Msg("storing the bound of SOA serials: they can decrease at the next restart")
	}
}
