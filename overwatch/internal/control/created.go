package control

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// creationTimes has the times at which domains were added to the file, sorted by the hash of the name. It is immutable
// and stored across restarts.
type creationTimes []creationTime

// creationTime is the time at which a domain was added to the file. With hashes, 100,000 names need 1.6 MB. Two names
// with the same hash have the earlier time.
type creationTime struct {
	name uint64
	at   int64 // Unix time in milliseconds
}

func hashOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

func (t creationTimes) find(name uint64) (at int, found bool) {
	return slices.BinarySearchFunc(t, name, func(one creationTime, name uint64) int { return cmp.Compare(one.name, name) })
}

// followed returns the times of names: known names retain their time, new names have the time now.
func (t creationTimes) followed(names map[string]bool, now time.Time) creationTimes {
	next := make(creationTimes, 0, len(names))
	for name := range names {
		one := creationTime{hashOf(name), now.UnixMilli()}
		if at, known := t.find(one.name); known {
			one.at = t[at].at
		}
		next = append(next, one)
	}
	slices.SortFunc(next, func(a, b creationTime) int { return cmp.Compare(a.name, b.name) })
	return next
}

func (t creationTimes) encoded() []byte {
	out := make([]byte, 0, 16*len(t))
	for _, one := range t {
		out = binary.BigEndian.AppendUint64(out, one.name)
		out = binary.BigEndian.AppendUint64(out, uint64(one.at))
	}
	return out
}

func decodeCreationTimes(in []byte) creationTimes {
	b := make(creationTimes, 0, len(in)/16)
	for ; len(in) >= 16; in = in[16:] {
		b = append(b, creationTime{binary.BigEndian.Uint64(in), int64(binary.BigEndian.Uint64(in[8:]))})
	}
	return b
}

// noteCreationTimes records the current time as the creation time of domains that are new in the file. If the times
// cannot be stored, these domains seem newer after the next restart.
func (s *State) noteCreationTimes(names map[string]bool) {
	before := *s.creationTimes.Load()
	after := before.followed(names, time.Now())
	if slices.Equal(before, after) {
		return
	}
	s.creationTimes.Store(&after)
	b := &store.Batch{}
	b.PutCreationTimes(after.encoded())
	if err := s.store.Write(b); err != nil {
		s.log.Error().Err(err).Msg("storing when domains came into the configuration: after a restart they seem newer")
	}
}

// CreatedAt returns the time at which a domain was added to the file, or the zero time for another name.
func (s *State) CreatedAt(domain string) time.Time {
	b := *s.creationTimes.Load()
	if at, found := b.find(hashOf(domain)); found {
		return time.UnixMilli(b[at].at)
	}
	return time.Time{}
}
