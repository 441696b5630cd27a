package gossip

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
)

// skewLimit is the clock difference between an agent and this node above which it is logged.
const skewLimit = time.Minute

// skews logs agents with a wrong clock, once until the clock is correct.
type skews struct {
	logger zerolog.Logger

	mu  sync.Mutex
	off map[string]struct{} // agent ids; at most trust.MaxAgents
}

func newSkews(logger zerolog.Logger) *skews {
	return &skews{logger: logger, off: make(map[string]struct{})}
}

// checkClock compares the sending time of an authenticated message with now.
func (s *skews) checkClock(agent string, sentAtMillis int64, now time.Time) {
	skew := time.UnixMilli(sentAtMillis).Sub(now).Round(time.Second)
	off := skew.Abs() > skewLimit
	s.mu.Lock()
	_, known := s.off[agent]
	switch {
	case !off:
		delete(s.off, agent)
	case len(s.off) < trust.MaxAgents:
		s.off[agent] = struct{}{}
	}
	s.mu.Unlock()
	if off && !known {
		s.logger.Warn().Str("agent_id", agent).Stringer("ahead", skew).
			Msg("the clocks of the agent and this node differ; correct the wrong clock; messages are still accepted")
	}
}
