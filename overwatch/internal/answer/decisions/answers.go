package decisions

import (
	"iter"

	"gslb.internal/overwatch/internal/policy"
)

const (
	// maxAnswerCounters is the largest number of AnswerKey values with a counter, about 20 MB. Further answers have a
	// counter without a domain and region.
	maxAnswerCounters = 1 << 17
	// maxDomainCounters is the largest number of counters of a domain. Further answers of the domain have no region, since
	// agents name regions freely.
	maxDomainCounters = 64
)

// AnswerKey groups the answers of a domain.
type AnswerKey struct {
	Domain  string // without the final dot; empty for the answers that exceed maxAnswerCounters
	Region  string // region of the backend of the first address; empty without a region and without an address
	Outcome policy.Outcome
}

// answerCounters holds the number of answers by key.
type answerCounters struct {
	counts   map[AnswerKey]*uint64
	ofDomain map[string]uint8 // number of counters by domain
}

func newAnswerCounters() answerCounters {
	return answerCounters{map[AnswerKey]*uint64{}, map[string]uint8{}}
}

// counterOf returns the counter of a key.
func (c answerCounters) counterOf(key AnswerKey) *uint64 {
	if known := c.counts[key]; known != nil {
		return known
	}
	switch {
	case len(c.counts) >= maxAnswerCounters:
		key.Domain, key.Region = "", ""
	case c.ofDomain[key.Domain] >= maxDomainCounters:
		key.Region = ""
	default:
		c.ofDomain[key.Domain]++
	}
	if c.counts[key] == nil {
		c.counts[key] = new(uint64)
	}
	return c.counts[key]
}

// Answers yields the number of answers since the start by domain, region and outcome, in no order, without keys that
// have no answer. The recorder is locked during the iteration, which does not delay queries: yield must not call it.
func (r *Recorder) Answers() iter.Seq2[AnswerKey, uint64] {
	return func(yield func(AnswerKey, uint64) bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.collectCounts()
		for key, count := range r.answers.counts {
			if *count > 0 && !yield(key, *count) {
				return
			}
		}
	}
}
