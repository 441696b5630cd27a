package decisions

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// sumPace is the time between two sums. A sum costs by the number of names that were asked for, however often.
const sumPace = 15 * time.Second

// Recorder sums up the counts of its sockets.
type Recorder struct {
	now     func() time.Time
	started time.Time
	every   atomic.Uint32 // the number of queries of which one is sampled; 0: none is

	mu       sync.Mutex
	sockets  []*Socket
	results  map[resultKey]*result
	flows    flows
	restored []Past // sampled by earlier processes, the newest first

	decisions, geoHits, missed uint64
	algorithms                 counters[string]
	outcomes                   counters[policy.Outcome]
	regions                    counters[string]
}

// New makes a Recorder that samples one of so many queries; 0: none. A nil now means time.Now.
func New(sample int, now func() time.Time) *Recorder {
	if now == nil {
		now = time.Now
	}
	r := &Recorder{
		now: now, started: now(), results: make(map[resultKey]*result),
		algorithms: counters[string]{}, outcomes: counters[policy.Outcome]{}, regions: counters[string]{},
	}
	r.Sample(sample)
	return r
}

// Sample changes the number of queries of which one is sampled; 0: none.
func (r *Recorder) Sample(every int) { r.every.Store(uint32(max(every, 0))) }

// Socket makes a Socket, for one goroutine that answers queries. A nil Recorder makes none.
func (r *Recorder) Socket() *Socket {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Socket{recorder: r, index: len(r.sockets), counts: map[statKey]stat{}, spare: map[statKey]stat{}}
	r.sockets = append(r.sockets, s)
	return s
}

func (r *Recorder) list() []*Socket {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sockets)
}

// Run sums up until ctx ends. It returns nil.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(sumPace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			r.mu.Lock()
			r.sum()
			r.mu.Unlock()
		}
	}
}

// sum adds the sockets' counts to the flows and totals. The caller holds mu.
func (r *Recorder) sum() {
	now := r.now()
	for _, s := range r.sockets {
		for key, noted := range s.takeCounts() {
			var known *result
			if key.basis != nil {
				known = r.result(key, noted.spot)
			}
			for i, count := range noted.counts {
				switch {
				case count == 0:
				case known == nil:
					r.missed += uint64(count)
				default:
					known.count(r, now, int(key.leads)*leadsTogether+i, uint64(count))
				}
			}
		}
	}
	r.flows.forget(now)
}

// count adds answers whose first address is the decision's at index lead. For answers without an address, lead is
// greater than any index.
func (s *result) count(r *Recorder, now time.Time, lead int, count uint64) {
	r.decisions += count
	*s.algorithm += count
	*s.outcome += count
	if lead >= len(s.leads) {
		return
	}
	l := &s.leads[lead]
	*l.region += count
	if s.geo {
		r.geoHits += count
	}
	if bucket := r.flows.newest(now); l.bucket != bucket {
		l.bucket, l.tally = bucket, r.flows.tally(bucket, l.flow)
	}
	l.tally.count += count
	l.tally.latest = now
}

// Missed returns the number of answers that were not counted because a socket had maxKeys counts already.
func (r *Recorder) Missed() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum()
	return r.missed
}

// maxResults bounds the results that are kept, some 40 MB. When there are as many, all are dropped.
const maxResults = 1 << 18

// resultKey identifies the decisions that count alike. It holds no Basis, which would keep outdated configuration in
// memory.
type resultKey struct {
	number uint32 // of the basis
	choice uint16
	region geo.RegionID
	family uint16
}

// result holds the counters of a decision's answers. With 100 000 names most of a sum's time is finding these, so they
// are found once.
type result struct {
	algorithm, outcome *uint64
	geo                bool     // the decision depended on the client's place, which is in a region
	leads              []leader // by the decision's addresses
}

// leader holds the counters of answers whose first address is the same.
type leader struct {
	region *uint64
	flow   Flow
	bucket *bucket // of tally; nil at first
	tally  *tally
}

// result returns the counters for answers with a key. The first time it repeats their decision.
func (r *Recorder) result(key statKey, spot geo.SpotID) *result {
	short := resultKey{key.basis.Number, key.choice, key.region, key.family}
	if known, there := r.results[short]; there {
		return known
	}
	if len(r.results) >= maxResults {
		clear(r.results)
	}
	client := (&zone.Selection{Input: key.basis, Region: key.region, Location: spot}).ClientLocation()
	d := key.basis.Decide(policy.Family(key.family), client)
	made := &result{
		algorithm: r.algorithms.of(d.Algorithm.String()), outcome: r.outcomes.of(d.Outcome),
		geo: key.basis.Placed && client.Region != "", leads: make([]leader, len(d.Due)),
	}
	domain := strings.TrimSuffix(key.basis.Name, ".")
	for lead := range d.Due {
		region := ""
		if c := selected(d, uint16(lead)); c != nil {
			region = c.Region
		}
		made.leads[lead] = leader{region: r.regions.of(region), flow: Flow{domain, client.Region, region}}
	}
	r.results[short] = made
	return made
}
