package decisions

import (
	"net/netip"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Socket notes the answers of one goroutine. A nil Socket notes nothing.
type Socket struct {
	shared *Recorder
	index  int
	since  uint32 // queries since the last that was sampled

	ring  ring
	table atomic.Pointer[table]
	// missed counts answers for which the table had no room.
	missed atomic.Uint64
	// Time that sampled answers took, and how many these were.
	took, timed atomic.Uint64

	old   *table // replaced at the last fold; the Recorder's
	begun time.Time
}

// Begin is called before a query is answered. It returns the time if the query is to be sampled, else the zero time.
func (s *Socket) Begin() time.Time {
	if s == nil {
		return time.Time{}
	}
	every := s.shared.every.Load()
	if every == 0 {
		return time.Time{}
	}
	if s.since++; s.since < every {
		return time.Time{}
	}
	s.since = 0
	return s.shared.now()
}

// Note notes a steered answer to a client; began is what Begin returned.
func (s *Socket) Note(began time.Time, answer *zone.Steered, client netip.Addr) {
	if s == nil {
		return
	}
	key := pack(answer)
	if !s.table.Load().count(key, answer) {
		s.missed.Add(1)
	}
	if began.IsZero() {
		return
	}
	took := uint64(max(s.shared.now().Sub(began), 0))
	s.took.Add(took)
	s.timed.Add(1)
	s.ring.put(began, key, answer.Basis, network(client))
}

// An answer without its basis is packed into one number: from the lowest bit on, 16 bits for the region, 16 for the choice,
// 15 for the lead, 1 for the family, and 16 for the spot, which makes no difference where the others are the same but for
// its own client.
const (
	choiceAt, leadAt, familyAt, spotAt = 16, 32, 47, 48

	packedNoLead = 1<<15 - 1 // more leads than there are addresses in any answer
	kind         = 1<<spotAt - 1
)

func pack(a *zone.Steered) uint64 {
	return uint64(a.Spot)<<spotAt | uint64(a.Family)<<familyAt | uint64(min(a.Lead, packedNoLead))<<leadAt | uint64(a.Choice)<<choiceAt | uint64(a.Region)
}

func unpack(key uint64, basis *policy.Basis) zone.Steered {
	a := zone.Steered{
		Basis: basis, Number: basis.Number, Region: geo.RegionID(key & 0xFFFF), Spot: geo.SpotID(key >> spotAt), Choice: uint16(key >> choiceAt & 0xFFFF),
		Lead: uint16(key >> leadAt & packedNoLead), Family: policy.Family(key >> familyAt & 1),
	}
	if a.Lead == packedNoLead {
		a.Lead = zone.NoLead
	}
	return a
}

func leadOf(key uint64) int { return int(key >> leadAt & packedNoLead) }
