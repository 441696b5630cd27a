package gossip

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

const (
	maxClassMessages  = 8192     // messages in a class
	maxClassOctets    = 16 << 20 // octets of messages in a class
	maxSenderMessages = 8        // messages of one sender in a class
	sampledSources    = 8        // number of compared sources in a full class; the largest source loses messages
)

// arrival is a queued message.
type arrival struct {
	message []byte
	head    identity.Envelope // unverified, without payload
	from    origin
	at      time.Time
}

// source is a host that sends messages, by datagram or by stream. Each source has an equal share of a class. A share
// for each key id would be unsafe, since a sender with the gossip key can forge key ids. The source address of a
// datagram can be forged, so streams have separate sources.
type source struct {
	host   netip.Prefix
	stream bool
}

// sender is a key id with its source address: with the port for datagrams, without the port for streams. The key id is
// unverified, so messages from another address must not use the limit of the agent.
type sender struct {
	key    identity.KeyID
	from   netip.AddrPort
	stream bool
}

func senderOf(a arrival) sender {
	s := sender{a.head.KeyID, a.from.addr, a.from.stream}
	if s.stream {
		s.from = netip.AddrPortFrom(s.from.Addr(), 0) // each stream has a different port
	}
	return s
}

// queueClass is a bounded queue of messages of equal priority, with round-robin over sources. In a full class, the
// source with the most messages loses messages. A sender may have maxSenderMessages messages, so that an agent does not
// use the share of other agents behind the same address.
type queueClass struct {
	sources  map[source]*backlog
	rotation []*backlog // sources with messages, the next source first
	senders  map[sender]int
	count    int
	octets   int
}

// backlog has the queued messages of a source, oldest first.
type backlog struct {
	source  source
	waiting []arrival
}

func newQueueClass() *queueClass {
	return &queueClass{sources: make(map[source]*backlog), senders: make(map[sender]int)}
}

// add queues a message. It returns the reason if it dropped this or another message.
func (l *queueClass) add(a arrival) frame.Fault {
	who := senderOf(a)
	if l.senders[who] >= maxSenderMessages {
		return dropAgentLimit
	}
	src := source{trust.HostOf(a.from.addr.Addr()), a.from.stream}
	fault := frame.None
	if l.count >= maxClassMessages || l.octets+len(a.message) > maxClassOctets {
		fault = dropQueueFull
		if !l.makeRoom(src, len(a.message)) {
			return fault
		}
	}
	b := l.sources[src]
	if b == nil {
		b = &backlog{source: src}
		l.sources[src] = b
		l.rotation = append(l.rotation, b)
	}
	b.waiting = append(b.waiting, a)
	l.count++
	l.octets += len(a.message)
	l.senders[who]++
	return fault
}

// makeRoom drops the latest messages of sources with more messages than newcomer, until size octets fit. It returns
// false if there is no such source.
func (l *queueClass) makeRoom(newcomer source, size int) bool {
	own := 0
	if b := l.sources[newcomer]; b != nil {
		own = len(b.waiting)
	}
	for l.count >= maxClassMessages || l.octets+size > maxClassOctets {
		var most *backlog
		tries := 0
		for _, b := range l.sources { // in random order
			if most == nil || len(b.waiting) > len(most.waiting) {
				most = b
			}
			if tries++; tries == sampledSources {
				break
			}
		}
		if most == nil || len(most.waiting) <= own+1 {
			return false
		}
		last := len(most.waiting) - 1
		l.uncount(most.waiting[last])
		most.waiting[last] = arrival{}
		most.waiting = most.waiting[:last] // the source stays in rotation, because at least one message remains
	}
	return true
}

// removeNext removes and returns the oldest message of the next source.
func (l *queueClass) removeNext() (arrival, bool) {
	if len(l.rotation) == 0 {
		return arrival{}, false
	}
	b := l.rotation[0]
	l.rotation[0] = nil
	l.rotation = l.rotation[1:]
	a := b.waiting[0]
	b.waiting[0] = arrival{}
	b.waiting = b.waiting[1:]
	l.uncount(a)
	if len(b.waiting) > 0 {
		l.rotation = append(l.rotation, b)
	} else {
		delete(l.sources, b.source)
	}
	return a, true
}

// uncount subtracts a message from the counts.
func (l *queueClass) uncount(a arrival) {
	l.count--
	l.octets -= len(a.message)
	who := senderOf(a)
	if l.senders[who]--; l.senders[who] == 0 {
		delete(l.senders, who)
	}
}
