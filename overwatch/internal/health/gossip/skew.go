package gossip

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
)

// skewLimit is the difference of an agent's clock from which on it is logged. Nothing depends on it but certificates'
// validity.
const skewLimit = time.Minute

// skews mentions agents whose clocks are off, each once until it is right again.
type skews struct {
	logger zerolog.Logger

	mu  sync.Mutex
	off map[string]struct{} // agent ids; at most trust.MaxAgents
}

func newSkews(logger zerolog.Logger) *skews {
	return &skews{logger: logger, off: make(map[string]struct{})}
}

// note looks at the time that a believed message says it was sent at.
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
