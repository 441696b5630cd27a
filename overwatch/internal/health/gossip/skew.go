package gossip

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
)

// skewLimit is the difference between an agent's clock and this node's beyond which it is logged.
const skewLimit = time.Minute

// skews logs agents whose clocks are wrong, each once until its clock is right again.
type skews struct {
	logger zerolog.Logger

	mu  sync.Mutex
	off map[string]struct{} // agent ids; at most trust.MaxAgents
}

func newSkews(logger zerolog.Logger) *skews {
	return &skews{logger: logger, off: make(map[string]struct{})}
}

// note compares the sending time of a believed message with now.
func (s *skews) note(agent string, sentAtMillis int64, now time.Time) {
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
			Msg("this agent's clock and ours differ: correct the wrong one; messages are taken all the same")
	}
}
