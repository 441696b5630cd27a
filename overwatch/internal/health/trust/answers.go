package trust

import (
	"sync"
	"time"

	"gslb.internal/shared/tokenbucket"
	"gslb.internal/shared/wire"
)

// Limits of the answers to rejected messages, which any sender can cause. An answer costs a signature (about 25 µs)
// and a verification (about 60 µs), so that a flood uses at most a few percent of a core.
const (
	answersPerSecond = 100 // per bucket
	answersBurst     = 200
	// checksPerSecond and checksBurst limit the signatures that the node verifies before a Reject to a pinned agent. The
	// limit exceeds the limit of the answers, because forged messages of the agent use verifications without answers.
	checksPerSecond = 500
	checksBurst     = 1000
	// answerEvery is the minimum time between two Rejects to the same pinned agent.
	answerEvery = time.Second
	// noticesPerMinute limits the log lines about agents without a pin. Any holder of the gossip key can invent their ids.
	noticesPerMinute = 30
	noticesBurst     = 30
	// maxNotices is the maximum number of agents with a logged rejection.
	maxNotices = 4096
)

// answers limits Rejects and log lines.
type answers struct {
	mu sync.Mutex
	// rejects[0] limits the Rejects to agents without a pin and to other versions. rejects[1] limits the Rejects to pinned
	// agents. A sender with only the gossip key cannot exhaust the second bucket.
	rejects [2]tokenbucket.Bucket
	checks  tokenbucket.Bucket
	lines   tokenbucket.Bucket
	noticed map[string]uint64 // by agent id, a bit per code
}

func newAnswers() *answers {
	rejects := tokenbucket.PerSecond(answersPerSecond, answersBurst)
	return &answers{
		rejects: [2]tokenbucket.Bucket{tokenbucket.New(rejects), tokenbucket.New(rejects)},
		checks:  tokenbucket.New(tokenbucket.PerSecond(checksPerSecond, checksBurst)),
		lines:   tokenbucket.New(tokenbucket.PerSecond(noticesPerMinute/60., noticesBurst)),
		noticed: make(map[string]uint64),
	}
}

// mayCheck reports whether the limit permits another signature verification before a Reject to a pinned agent, and
// counts it.
func (a *answers) mayCheck(now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.checks.Take(instant(now))
}

// mayAnswer reports whether the limit permits another Reject, and counts it. known is true for a verified message of a
// pinned agent.
func (a *answers) mayAnswer(known bool, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known {
		return a.rejects[1].Take(instant(now))
	}
	return a.rejects[0].Take(instant(now))
}

// first reports whether to log the rejection of an agent with a code. The first rejection since the last accepted
// message of the agent is logged.
func (a *answers) first(agentID string, code wire.RejectCode, known bool, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, bit := a.noticed[agentID], uint64(1)<<(code%64)
	full := before == 0 && len(a.noticed) >= maxNotices
	if before&bit != 0 || (full || !known) && !a.lines.Take(instant(now)) {
		return false
	}
	if full {
		for some := range a.noticed {
			delete(a.noticed, some)
			break
		}
	}
	a.noticed[agentID] = before | bit
	return true
}

// deleteLogged deletes the logged rejections of an agent, so that its next rejection is logged.
func (a *answers) deleteLogged(agentID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.noticed, agentID)
}

// instant converts an elapsed duration of the clock to a time for token buckets.
func instant(elapsed time.Duration) time.Time { return time.Time{}.Add(elapsed) }
