package trust

import (
	"sync"
	"time"

	"gslb.internal/shared/tokenbucket"
	"gslb.internal/shared/wire"
)

// Bounds on the work of answering refused messages, which their senders cause. An answer costs a signature (some 25
// microseconds) and the check of one (some 60), so that a flood costs at most a few percent of a core.
const (
	answersPerSecond = 100 // to each of the two
	answersBurst     = 200
	// checksPerSecond and checksBurst bound the signatures that are checked for a Reject to a pinned agent. They are more
	// than the answers, since whoever forges messages of that agent spends checks, but no answers.
	checksPerSecond = 500
	checksBurst     = 1000
	// answerEvery is the least time between two Rejects for the same pinned agent.
	answerEvery = time.Second
	// noticesPerMinute bounds the log lines about agents that are not pinned, whose ids anybody with the gossip key can
	// make up.
	noticesPerMinute = 30
	noticesBurst     = 30
	// maxNotices bounds the agents of which it is remembered that a refusal was logged.
	maxNotices = 4096
)

// answers bounds Rejects and log lines.
type answers struct {
	mu sync.Mutex
	// rejects bounds the Rejects to agents that are not pinned and those that tell of another version, then the others to
	// pinned agents: whoever has only the gossip key takes nothing from the latter.
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

// mayCheck reports whether one more signature may be checked for a Reject to a pinned agent, and counts it if so.
func (a *answers) mayCheck(now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.checks.Take(instant(now))
}

// mayAnswer reports whether one more Reject may be sent, and counts it if so. known: to a pinned agent, for a message
// that is its own.
func (a *answers) mayAnswer(known bool, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known {
		return a.rejects[1].Take(instant(now))
	}
	return a.rejects[0].Take(instant(now))
}

// first reports whether this agent's refusal with this code is worth a line: the first since the agent was last
// accepted.
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

// forget has the next refusal of an agent logged again.
func (a *answers) forget(agentID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.noticed, agentID)
}

// instant returns the point in time of a duration of the clock, for buckets.
func instant(elapsed time.Duration) time.Time { return time.Time{}.Add(elapsed) }
