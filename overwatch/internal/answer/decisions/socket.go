package decisions

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// RingSize is the number of sampled answers that a socket stores.
const RingSize = 1024

// maxKeys is the largest number of counts of a socket between two collections, about 22 MB. Further answers are missed.
const maxKeys = 1 << 19

// leadsPerStat is the number of addresses of a decision that share a stat. Fewer map entries make counting cheaper.
const leadsPerStat = 4

// statKey groups answers of one name and one decision, with one of leadsPerStat consecutive first addresses. The zero
// key counts missed answers. The struct has no padding, so that a map hashes it in one step.
type statKey struct {
	input   *policy.DecisionInput
	region  geo.RegionID
	variant uint16 // see zone.Selection
	leads   uint16 // zone.Selection.Lead divided by leadsPerStat
	family  uint16 // policy.Family
}

// stat counts the answers of a statKey.
type stat struct {
	counts   [leadsPerStat]uint32 // by the remainder of the lead; collected long before an overflow
	location geo.LocationID       // location of the last client; other locations with the same key have the same answers
}

// SocketRecorder records the answers of one goroutine. A nil SocketRecorder records nothing.
type SocketRecorder struct {
	recorder  *Recorder
	index     int
	unsampled uint32 // queries since the last sample; used only by the answering goroutine

	mu          sync.Mutex
	answered    uint64             // number of load-balanced answers
	counts      map[statKey]stat   // since the last collection
	samples     [RingSize]Decision // sample n, counted from 0, has index n%RingSize
	sampled     uint64             // number of samples
	sampledTime time.Duration      // sum of the answer times of all samples
	timed       uint64             // number of samples whose time is in the series

	spare map[statKey]stat // empty map for the next collection; used only by the Recorder
}

// StartSample must be called before each query. It returns the current time if the query is sampled, otherwise zero.
func (s *SocketRecorder) StartSample() time.Time {
	if s == nil {
		return time.Time{}
	}
	every := s.recorder.sampleInterval.Load()
	if every == 0 {
		return time.Time{}
	}
	if s.unsampled++; s.unsampled < every {
		return time.Time{}
	}
	s.unsampled = 0
	return s.recorder.now()
}

// RecordAnswer counts a load-balanced answer, and samples it unless began is zero. began is the result of StartSample.
// It returns the number of the answer, for AppendID.
func (s *SocketRecorder) RecordAnswer(began time.Time, answer *zone.Selection, client netip.Addr) (number uint64) {
	if s == nil {
		return 0
	}
	key := statKey{answer.Input, answer.Region, answer.Variant, answer.Lead / leadsPerStat, uint16(answer.Family)}
	s.mu.Lock()
	s.answered++
	number = s.answered
	if len(s.counts) >= maxKeys {
		key = statKey{}
	}
	counted := s.counts[key]
	counted.counts[answer.Lead%leadsPerStat]++
	counted.location = answer.Location
	s.counts[key] = counted
	if !began.IsZero() {
		took := max(s.recorder.now().Sub(began), 0)
		s.sampledTime += took
		s.samples[s.sampled%RingSize] = Decision{
			Number: number, At: began, Client: clientNetwork(client), Selection: *answer, took: took,
		}
		s.sampled++
	}
	s.mu.Unlock()
	return number
}

// clientNetwork returns the recorded part of a client address: 24 bits of an IPv4 address, 48 of an IPv6 address.
func clientNetwork(client netip.Addr) netip.Prefix {
	client = client.Unmap()
	bits := 48
	if client.Is4() {
		bits = 24
	}
	prefix, _ := client.Prefix(bits) // fails only for the zero address
	return prefix
}

// swapCounts returns the counts since the last call. They are valid until the next call. The Recorder calls it locked.
func (s *SocketRecorder) swapCounts() map[statKey]stat {
	clear(s.spare)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts, s.spare = s.spare, s.counts
	return s.spare
}

// storedSamples returns the samples with their ids, the latest first.
func (s *SocketRecorder) storedSamples() (out []Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := s.sampled; n > s.sampled-min(s.sampled, RingSize); n-- {
		d := s.samples[(n-1)%RingSize]
		d.ID = string(s.AppendID(nil, d.Number))
		out = append(out, d)
	}
	return out
}
