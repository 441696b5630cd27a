package gossip

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

const (
	laneMessages  = 8192     // messages in one lane
	laneOctets    = 16 << 20 // octets of messages in one lane
	laneAgent     = 8        // messages of one sender in one lane
	laneSampleLen = 8        // sources of which the one with most messages loses some in a full lane
)

// arrival is a message that waits for a worker.
type arrival struct {
	message []byte
	head    identity.Envelope // as the sender wrote it; not believed. Without payload.
	from    origin
	at      time.Time
}

// source is a host that sends messages, by datagram or by stream. Each source has an equal share of a lane. Key ids
// would not do, since whoever has the gossip key can write any. The source address of a datagram can be forged, so
// streams count apart.
type source struct {
	host   netip.Prefix
	stream bool
}

// sender is a key id with the address that it comes from: with the port for datagrams, without it for streams. The key
// id is not believed: whoever has the gossip key can write that of any agent, so messages from another address must not
// count against that agent.
type sender struct {
	key    identity.KeyID
	from   netip.AddrPort
	stream bool
}

func senderOf(a arrival) sender {
	s := sender{a.head.KeyID, a.from.addr, a.from.stream}
	if s.stream {
		s.from = netip.AddrPortFrom(s.from.Addr(), 0) // each stream has another port
	}
	return s
}

// lane is a bounded queue of messages of equal importance. Sources take turns. In a full lane, messages of the source
// with most are dropped. A sender may have laneAgent messages in it, so that one agent does not use up the share of
// others behind the same address.
type lane struct {
	sources map[source]*backlog
	turns   []*backlog // sources that have something waiting, the next one first
	senders map[sender]int
	count   int
	octets  int
}

// backlog holds the waiting messages of one source, oldest first.
type backlog struct {
	source  source
	waiting []arrival
}

func newLane() *lane {
	return &lane{sources: make(map[source]*backlog), senders: make(map[sender]int)}
}

// add queues a message. It returns the reason if a message was dropped for it, which may be this one or another.
func (l *lane) add(a arrival) frame.Fault {
	who := senderOf(a)
	if l.senders[who] >= laneAgent {
		return dropAgentLimit
	}
	src := source{trust.HostOf(a.from.addr.Addr()), a.from.stream}
	fault := frame.None
	if l.count >= laneMessages || l.octets+len(a.message) > laneOctets {
		fault = dropQueueFull
		if !l.makeRoom(src, len(a.message)) {
			return fault
		}
	}
	b := l.sources[src]
	if b == nil {
		b = &backlog{source: src}
		l.sources[src] = b
		l.turns = append(l.turns, b)
	}
	b.waiting = append(b.waiting, a)
	l.count++
	l.octets += len(a.message)
	l.senders[who]++
	return fault
}

// makeRoom drops the newest messages of sources that have more than the newcomer, until size octets fit. It returns
// false if there is no such source.
func (l *lane) makeRoom(newcomer source, size int) bool {
	own := 0
	if b := l.sources[newcomer]; b != nil {
		own = len(b.waiting)
	}
	for l.count >= laneMessages || l.octets+size > laneOctets {
		var most *backlog
		tries := 0
		for _, b := range l.sources { // in random order
			if most == nil || len(b.waiting) > len(most.waiting) {
				most = b
			}
			if tries++; tries == laneSampleLen {
				break
			}
		}
		if most == nil || len(most.waiting) <= own+1 {
			return false
		}
		last := len(most.waiting) - 1
		l.forget(most.waiting[last])
		most.waiting[last] = arrival{}
		most.waiting = most.waiting[:last] // at least one is left, so the source keeps its turn
	}
	return true
}

// next removes and returns the oldest message of the source whose turn it is.
func (l *lane) next() (arrival, bool) {
	if len(l.turns) == 0 {
		return arrival{}, false
	}
	b := l.turns[0]
	l.turns[0] = nil
	l.turns = l.turns[1:]
	a := b.waiting[0]
	b.waiting[0] = arrival{}
	b.waiting = b.waiting[1:]
	l.forget(a)
	if len(b.waiting) > 0 {
		l.turns = append(l.turns, b)
	} else {
		delete(l.sources, b.source)
	}
	return a, true
}

// forget counts a message no longer.
func (l *lane) forget(a arrival) {
	l.count--
	l.octets -= len(a.message)
	who := senderOf(a)
	if l.senders[who]--; l.senders[who] == 0 {
		delete(l.senders, who)
	}
}
