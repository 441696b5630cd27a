package gossip

import (
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// pace bounds one agent's messages of a kind: rate in a second over time, and burst at once, such as when all of its
// backends change. A sound agent sends less. Messages beyond it are dropped; the agent's next heartbeat has its whole
// state. Heartbeats have a pace of their own, so that a flapping agent does not seem silent.
type pace struct{ rate, burst int }

var (
	beatPace   = pace{15, 50}  // agents send ten a second at most
	changePace = pace{10, 100} // of transitions, signals, drains and goodbyes
)

// paceOf returns the pace of a kind of messages; a kind that answers another, as an Ack does, has none.
func paceOf(kind wire.Type) (p pace, paced bool) {
	switch kind {
	case wire.TypeHeartbeat:
		return beatPace, true
	case wire.TypeTransition, wire.TypeSignal, wire.TypeDrain, wire.TypeDeregister:
		return changePace, true
	}
	return pace{}, false
}

// paces counts the messages of each believed agent.
type paces struct {
	mu  sync.Mutex
	due map[paced]time.Time // when an agent's allowance is whole again; at most maxPaced
}

// paced is one agent's messages of one pace.
type paced struct {
	agent string
	pace  pace
}

// maxPaced bounds the entries of due: two for each agent.
const maxPaced = 2 * trust.MaxAgents

func newPaces() *paces { return &paces{due: make(map[paced]time.Time)} }

// take reports whether one more message of an agent is within its pace, and counts it if so.
func (p *paces) take(agent string, kind wire.Type, now time.Time) bool {
	allowed, any := paceOf(kind)
	if !any {
		return true
	}
	who := paced{agent, allowed}
	p.mu.Lock()
	defer p.mu.Unlock()
	due, known := p.due[who]
	if !known && len(p.due) >= maxPaced {
		for other, whole := range p.due {
			if !whole.After(now) {
				delete(p.due, other) // it has its whole allowance like one that is not known
			}
		}
	}
	if due.Before(now) {
		due = now
	}
	each := time.Second / time.Duration(allowed.rate)
	if due = due.Add(each); due.Sub(now) > time.Duration(allowed.burst)*each {
		return false
	}
	p.due[who] = due
	return true
}
