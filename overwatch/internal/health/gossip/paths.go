package gossip

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

const (
	// maxPaths bounds each of the maps; it is several times the agents that one node is made for.
	maxPaths = 32768
	// verifiedFor is the time for which the source of a verified datagram is used; heartbeats renew it.
	verifiedFor = 5 * time.Minute
	// pingedFor is the time for which the source of a ping is used; agents ping every other second.
	pingedFor = 30 * time.Second
)

// paths remembers where answers for an agent go: its datagrams' source as seen here, behind whatever NAT there is.
//
// The source of a message whose signature held is the best there is. An agent whose messages all came as streams is
// answered where its pings come from: see frame.AgentName for who could send such a ping.
type paths struct {
	mu       sync.Mutex
	verified map[identity.KeyID]path
	pings    map[string]path
	// streamed are the sources of streams whose signature held, to show them.
	streamed map[identity.KeyID]path
	// greetings are the sources of push/pulls, by the name in them. A TCP connection proves its source address.
	greetings map[string]path
}

type path struct {
	to   netip.AddrPort
	seen time.Time
}

// holds reports whether the path leads to an address and was noted so lately that it need not be noted again.
func (p path) holds(to netip.AddrPort, now time.Time, lifetime time.Duration) bool {
	return p.to == to && now.Sub(p.seen) < lifetime/4
}

func newPaths() *paths {
	return &paths{verified: make(map[identity.KeyID]path), streamed: make(map[identity.KeyID]path),
		pings: make(map[string]path), greetings: make(map[string]path)}
}

// pinged learns the source of a ping under the name it carried. It keeps nothing of name.
func (p *paths) pinged(name []byte, from netip.AddrPort, now time.Time) {
	if len(name) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.pings[string(name)]; !ok || !known.holds(from, now, pingedFor) {
		learn(p.pings, string(name), path{from, now}, pingedFor)
	}
}

// greeted learns the source of a push/pull under the name in it, which it keeps.
func (p *paths) greeted(name string, from netip.Addr, now time.Time) {
	if name == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	learn(p.greetings, name, path{netip.AddrPortFrom(from, 0), now}, pingedFor)
}

// proven returns the address that an authentic message of an agent came from, if it is proved to be the agent's own:
// the source of a stream, or the source of a datagram from which also came a push/pull under the name of the agent's
// process. The source of a datagram alone can be forged.
func (p *paths) proven(key identity.KeyID, epoch uint64, from origin) netip.Addr {
	if from.stream {
		return from.addr.Addr()
	}
	name := frame.AgentName(key, epoch)
	p.mu.Lock()
	defer p.mu.Unlock()
	if g, ok := p.greetings[name]; ok && g.to.Addr() == from.addr.Addr() {
		return g.to.Addr()
	}
	return netip.Addr{}
}

// proved learns the source of a message whose signature held.
func (p *paths) proved(key identity.KeyID, from origin, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from.stream {
		learn(p.streamed, key, path{from.addr, now}, verifiedFor)
	} else {
		learn(p.verified, key, path{from.addr, now}, verifiedFor)
	}
}

// latest returns the source of the newest message of a certificate's holder, not valid if none is remembered. The port
// is 0 if it was a stream: that port is gone with it.
func (p *paths) latest(key identity.KeyID) netip.AddrPort {
	p.mu.Lock()
	defer p.mu.Unlock()
	datagram, stream := p.verified[key], p.streamed[key]
	if stream.seen.After(datagram.seen) {
		if stream.to.Addr() == datagram.to.Addr() {
			return datagram.to
		}
		return netip.AddrPortFrom(stream.to.Addr(), 0)
	}
	return datagram.to
}

// learn stores an entry; in a full map it takes the place of an expired one, or of any one.
func learn[K comparable](m map[K]path, key K, new path, lifetime time.Duration) {
	if _, known := m[key]; !known && len(m) >= maxPaths {
		var victim K
		tries := 0
		for victim = range m { // in random order
			if tries++; tries == 8 || new.seen.Sub(m[victim].seen) > lifetime {
				break
			}
		}
		delete(m, victim)
	}
	m[key] = new
}

// answerAddresses returns the addresses to answer a message at: the datagram's source, else those known of the agent,
// which may be two or none.
func (p *paths) answerAddresses(key identity.KeyID, epoch uint64, from origin, now time.Time) []netip.AddrPort {
	if !from.stream {
		return []netip.AddrPort{from.addr}
	}
	name := frame.AgentName(key, epoch)
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []netip.AddrPort
	if v, ok := p.verified[key]; ok && now.Sub(v.seen) <= verifiedFor {
		out = append(out, v.to)
	}
	if g, ok := p.pings[name]; ok && now.Sub(g.seen) <= pingedFor && (len(out) == 0 || out[0] != g.to) {
		out = append(out, g.to)
	}
	return out
}
