package gossip

import (
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/tokenbucket"
	"gslb.internal/shared/wire"
)

// messageClass is a class of messages with a rate limit for each agent. A correct agent stays below both limits. The
// node drops messages above a limit; the next heartbeat of the agent contains its complete state. Heartbeats are a
// separate class, so that a flapping agent does not appear silent.
type messageClass int

const (
	unlimitedMessages messageClass = iota // answers, such as an Ack
	heartbeats
	changes // transitions, signals, drains and leave messages
)

// classOf returns the class of a type of messages.
func classOf(kind wire.Type) messageClass {
	switch kind {
	case wire.TypeHeartbeat:
		return heartbeats
	case wire.TypeTransition, wire.TypeSignal, wire.TypeDrain, wire.TypeDeregister:
		return changes
	}
	return unlimitedMessages
}

// limit returns the rate limit of a class with a limit.
func (c messageClass) limit() tokenbucket.Limit {
	if c == heartbeats {
		return tokenbucket.PerSecond(15, 50) // agents send at most ten per second
	}
	return tokenbucket.PerSecond(10, 100)
}

// agentLimits counts the messages of each pinned agent.
type agentLimits struct {
	mu      sync.Mutex
	buckets *tokenbucket.Keyed[agentClass]
}

// agentClass identifies the messages of an agent with a shared limit.
type agentClass struct {
	agent string
	class messageClass
}

// maxAgentClasses is the maximum number of buckets: two for each agent.
const maxAgentClasses = 2 * trust.MaxAgents

func newAgentLimits() *agentLimits {
	return &agentLimits{buckets: tokenbucket.NewKeyed[agentClass](maxAgentClasses)}
}

// allowMessage reports whether the limit of its class permits another message of an agent, and counts a permitted
// message.
func (l *agentLimits) allowMessage(agent string, kind wire.Type, now time.Time) bool {
	class := classOf(kind)
	if class == unlimitedMessages {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets.Bucket(agentClass{agent, class}, class.limit(), now)
	return b != nil && b.Take(now)
}
