package decisions

import (
	"iter"

	"gslb.internal/overwatch/internal/policy"
)

// maxAnswerCounters is the largest number of AnswerKey values with a counter, about 20 MB. When it is reached, all
// counters start again at 0, as after a restart of the process.
const maxAnswerCounters = 1 << 17

// AnswerKey groups the answers of a domain.
type AnswerKey struct {
	Domain  string // without the final dot
	Region  string // region of the backend of the first address; empty without a region and without an address
	Outcome policy.Outcome
}

// answerCounters holds the number of answers by key. A decision adds all keys of its answers, so a count can be 0.
type answerCounters map[AnswerKey]*uint64

// counterOf returns the counter of a key.
func (c answerCounters) counterOf(key AnswerKey) *uint64 {
	if c[key] == nil {
		c[key] = new(uint64)
	}
	return c[key]
}

// Answers yields the number of answers since the start by domain, region and outcome, in no order, without keys that
// have no answer. The recorder is locked during the iteration, which does not delay queries: yield must not call it.
func (r *Recorder) Answers() iter.Seq2[AnswerKey, uint64] {
	return func(yield func(AnswerKey, uint64) bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.collectCounts()
		for key, count := range r.answers {
			if *count > 0 && !yield(key, *count) {
				return
			}
		}
	}
}
