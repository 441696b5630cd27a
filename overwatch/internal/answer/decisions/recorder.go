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

// collectInterval is the time between two collections. The cost depends on the number of queried names, not of queries.
const collectInterval = 15 * time.Second

// Recorder collects the counts of its sockets. It is safe for concurrent use.
type Recorder struct {
	now            func() time.Time
	started        time.Time
	sampleInterval atomic.Uint32 // one of so many queries is sampled; 0 disables sampling

	mu       sync.Mutex
	sockets  []*SocketRecorder
	results  map[resultKey]*result
	flows    flows
	restored []Summary // samples of earlier processes, the latest first

	decisions, geoHits, missed uint64
	algorithms                 counters[string]
	outcomes                   counters[policy.Outcome]
	regions                    counters[string]
	answers                    answerCounters
	series                     map[string]*series // by domain, without the final dot
	dropped                    uint32             // Unix minute of the last search for idle series
}

// New returns a Recorder that samples one of sample queries; 0 disables sampling. A nil now means time.Now.
func New(sample int, now func() time.Time) *Recorder {
	if now == nil {
		now = time.Now
	}
	r := &Recorder{
		now: now, started: now(), results: make(map[resultKey]*result),
		algorithms: counters[string]{}, outcomes: counters[policy.Outcome]{}, regions: counters[string]{},
		answers: newAnswerCounters(), series: map[string]*series{},
	}
	r.SetSampleInterval(sample)
	return r
}

// SetSampleInterval sets the number of queries per sample; 0 disables sampling.
func (r *Recorder) SetSampleInterval(every int) { r.sampleInterval.Store(uint32(max(every, 0))) }

// NewSocketRecorder returns a SocketRecorder for one goroutine that answers queries. It returns nil if r is nil.
func (r *Recorder) NewSocketRecorder() *SocketRecorder {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &SocketRecorder{recorder: r, index: len(r.sockets), counts: map[statKey]stat{}, spare: map[statKey]stat{}}
	r.sockets = append(r.sockets, s)
	return s
}

// socketList returns a copy of the list of sockets.
func (r *Recorder) socketList() []*SocketRecorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sockets)
}

// Run collects counts until ctx ends. It returns nil.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(collectInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			r.mu.Lock()
			r.collectCounts()
			r.mu.Unlock()
		}
	}
}

// collectCounts adds the counts of the sockets to the flows and totals. The caller holds mu.
func (r *Recorder) collectCounts() {
	now := r.now()
	for _, s := range r.sockets {
		for key, counted := range s.swapCounts() {
			var known *result
			if key.input != nil {
				known = r.result(key, counted.location, now)
			}
			for i, count := range counted.counts {
				switch {
				case count == 0:
				case known == nil:
					r.missed += uint64(count)
				default:
					known.addAnswers(r, now, int(key.leads)*leadsPerStat+i, uint64(count))
				}
			}
		}
	}
	r.collectTimes()
	r.flows.dropExpired(now)
}

// addAnswers adds answers with the first address at index lead of the decision. For answers without an address, lead is
// out of range.
func (s *result) addAnswers(r *Recorder, now time.Time, lead int, addAnswers uint64) {
	r.decisions += addAnswers
	*s.algorithm += addAnswers
	*s.outcome += addAnswers
	if s.series != nil {
		s.series.add(now, s.keyWithoutAddress.Outcome, addAnswers)
	}
	if lead >= len(s.leads) {
		if s.withoutAddress == nil {
			s.withoutAddress = r.answers.counterOf(s.keyWithoutAddress)
		}
		*s.withoutAddress += addAnswers
		return
	}
	l := &s.leads[lead]
	*l.answers += addAnswers
	*l.region += addAnswers
	if s.geo {
		r.geoHits += addAnswers
	}
	if bucket := r.flows.currentBucket(now); l.bucket != bucket {
		l.bucket, l.tally = bucket, r.flows.tallyOf(bucket, l.flow)
	}
	l.tally.count += addAnswers
	l.tally.latest = now
}

// Missed returns the number of uncounted answers, which exceeded maxKeys of their socket.
func (r *Recorder) Missed() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectCounts()
	return r.missed
}

// maxResults is the largest number of stored results, about 40 MB. When it is reached, all results are removed.
const maxResults = 1 << 18

// resultKey identifies decisions with common counters. It contains the number of the decision input instead of the
// input, so that it does not retain outdated configuration in memory.
type resultKey struct {
	number  uint32 // number of the decision input
	variant uint16
	region  geo.RegionID
	family  uint16
}

// result holds the counters of a decision's answers. With 100 000 names, a collection would spend most of its time on
// looking them up, so the result stores pointers.
type result struct {
	algorithm, outcome *uint64
	withoutAddress     *uint64 // answers of the domain without an address; initially nil
	keyWithoutAddress  AnswerKey
	series             *series        // nil above maxSeries
	geo                bool           // the decision depended on the client location, which is in a region
	leads              []leadCounters // by index of the decision's addresses
}

// leadCounters holds the counters of answers with the same first address.
type leadCounters struct {
	region  *uint64
	answers *uint64 // answers of the domain from this region
	flow    Flow
	bucket  *bucket // bucket of tally; initially nil
	tally   *tally
}

// result returns the counters for a key. For a new key, it repeats the decision.
func (r *Recorder) result(key statKey, location geo.LocationID, now time.Time) *result {
	short := resultKey{key.input.Number, key.variant, key.region, key.family}
	if known, there := r.results[short]; there {
		return known
	}
	if len(r.results) >= maxResults {
		clear(r.results)
	}
	client := (&zone.Selection{Input: key.input, Region: key.region, Location: location}).ClientLocation()
	d := key.input.Decide(policy.Family(key.family), client)
	made := &result{
		algorithm: r.algorithms.counterOf(d.Algorithm.String()), outcome: r.outcomes.counterOf(d.Outcome),
		geo: key.input.UsesRegion && client.Region != "", leads: make([]leadCounters, len(d.Members)),
	}
	domain := strings.TrimSuffix(key.input.Name, ".")
	made.series = r.seriesOf(domain, now)
	made.keyWithoutAddress = AnswerKey{Domain: domain, Outcome: d.Outcome}
	for lead := range d.Members {
		region := ""
		if c := leadCandidate(d, uint16(lead)); c != nil {
			region = c.Region
		}
		made.leads[lead] = leadCounters{
			region: r.regions.counterOf(region), flow: Flow{domain, client.Region, region},
			answers: r.answers.counterOf(AnswerKey{domain, region, d.Outcome}),
		}
	}
	r.results[short] = made
	return made
}
