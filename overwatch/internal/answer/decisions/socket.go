package decisions

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// RingSize is the number of sampled answers that a socket keeps.
const RingSize = 1024

// maxKeys bounds the counts of a socket between two sums, some 22 MB. Answers beyond it are only counted as missed.
const maxKeys = 1 << 19

// leadsTogether is the number of a decision's addresses that are counted in one stat: with many names, counting is the
// cheaper the fewer entries the map has.
const leadsTogether = 4

// statKey groups answers that are counted together: those of one name that follow from the same decision and are led by
// one of leadsTogether addresses. The zero key stands for answers that are missed. It has no padding, so that a map
// hashes it at once.
type statKey struct {
	basis  *policy.Basis
	region geo.RegionID
	choice uint16 // as in zone.Selection
	leads  uint16 // the lead, as in zone.Selection, by leadsTogether
	family uint16 // a policy.Family
}

// stat counts the answers of a statKey.
type stat struct {
	counts [leadsTogether]uint32 // by the lead; a sum is due long before they overflow
	spot   geo.SpotID            // of the last: clients at other spots with the same key are sent to the same backends
}

// Socket notes the answers of one goroutine. A nil Socket notes nothing.
type Socket struct {
	recorder  *Recorder
	index     int
	unsampled uint32 // queries since the last that was sampled; the answering goroutine's

	mu      sync.Mutex
	counts  map[statKey]stat   // since the last sum
	samples [RingSize]Decision // sample n, from 0, is at n%RingSize
	sampled uint64             // samples so far
	took    time.Duration      // that the sampled answers took together

	spare map[statKey]stat // empty, for the next sum; the Recorder's
}

// Begin is called before a query is answered. It returns the time if the query is to be sampled, else the zero time.
func (s *Socket) Begin() time.Time {
	if s == nil {
		return time.Time{}
	}
	every := s.recorder.every.Load()
	if every == 0 {
		return time.Time{}
	}
	if s.unsampled++; s.unsampled < every {
		return time.Time{}
	}
	s.unsampled = 0
	return s.recorder.now()
}

// Note counts a steered answer to a client, and samples it if began is not zero. began is what Begin returned.
func (s *Socket) Note(began time.Time, answer *zone.Selection, client netip.Addr) {
	if s == nil {
		return
	}
	key := statKey{answer.Input, answer.Region, answer.Variant, answer.Lead / leadsTogether, uint16(answer.Family)}
	s.mu.Lock()
	if len(s.counts) >= maxKeys {
		key = statKey{}
	}
	noted := s.counts[key]
	noted.counts[answer.Lead%leadsTogether]++
	noted.spot = answer.Location
	s.counts[key] = noted
	if !began.IsZero() {
		s.took += max(s.recorder.now().Sub(began), 0)
		s.samples[s.sampled%RingSize] = Decision{At: began, Client: network(client), Steered: *answer}
		s.sampled++
	}
	s.mu.Unlock()
}

// network returns as much of a client's address as is kept: 24 bits of an IPv4 address, 48 of an IPv6 address.
func network(client netip.Addr) netip.Prefix {
	client = client.Unmap()
	bits := 48
	if client.Is4() {
		bits = 24
	}
	prefix, _ := client.Prefix(bits) // fails for the zero address only
	return prefix
}

// takeCounts returns the counts since the last call, valid until the next one. Only the Recorder, locked, calls it.
func (s *Socket) takeCounts() map[statKey]stat {
	clear(s.spare)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts, s.spare = s.spare, s.counts
	return s.spare
}

// kept returns the samples that are kept, the newest first, with their ids.
func (s *Socket) kept() (out []Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := s.sampled; n > s.sampled-min(s.sampled, RingSize); n-- {
		d := s.samples[(n-1)%RingSize]
		d.ID = decisionID(s.index, n)
		out = append(out, d)
	}
	return out
}
