package gossip

import (
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// How many messages of one agent are taken: in a second over time, and at once, such as when all of its backends change. A sound agent says
// much less. One that sends more, because its backend flaps with every check or because it means ill, changes nothing
// more often than that, and its next heartbeat that is taken has its whole state.
const (
	agentRate  = 50
	agentBurst = 200
)

// paces bounds the messages that are taken of each believed agent.
type paces struct {
	mu  sync.Mutex
	due map[string]time.Time // by agent id, when its allowance is whole again; at most trust.MaxAgents
}

func newPaces() *paces { return &paces{due: make(map[string]time.Time)} }

// take says whether one more message of an agent is taken now.
func (p *paces) take(agent string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	due, known := p.due[agent]
	if !known && len(p.due) >= trust.MaxAgents {
		for id, whole := range p.due {
			if !whole.After(now) {
				delete(p.due, id) // it has its whole allowance like one that is not known
			}
		}
	}
	if due.Before(now) {
		due = now
	}
	if due = due.Add(time.Second / agentRate); due.Sub(now) > agentBurst*time.Second/agentRate {
		return false
	}
	p.due[agent] = due
	return true
}

// paced says whether a message counts against its agent's pace: what comes as often as an agent likes does.
func paced(kind wire.Type) bool {
	switch kind {
	case wire.TypeHeartbeat, wire.TypeTransition, wire.TypeSignal, wire.TypeDrain:
		return true
	}
	return false
}
