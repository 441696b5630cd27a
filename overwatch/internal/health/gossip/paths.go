package gossip

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

const (
	// maxPaths is the maximum size of each map, several times the designed number of agents.
	maxPaths = 32768
	// verifiedFor is the time for which the source of a verified datagram is used. Heartbeats renew it.
	verifiedFor = 5 * time.Minute
	// pingedFor is the time for which the source of a ping is used; agents ping every other second.
	pingedFor = 30 * time.Second
)

// paths stores the addresses for answers to agents: the sources of their datagrams. It supports agents behind NAT.
//
// A verified message has precedence over a ping. For an agent that sends only streams, paths uses the source of its
// pings; frame.AgentName describes who could forge such a ping.
type paths struct {
	mu       sync.Mutex
	verified map[identity.KeyID]path
	pings    map[string]path
	// streamed are the sources of verified streams, for display.
	streamed map[identity.KeyID]path
	// greetings contains the sources of push/pulls by the node name in the message. A TCP connection proves the source
	// address.
	greetings map[string]path
}

type path struct {
	to   netip.AddrPort
	seen time.Time
}

// isRecent reports whether the path leads to an address and needs no update.
func (p path) isRecent(to netip.AddrPort, now time.Time, lifetime time.Duration) bool {
	return p.to == to && now.Sub(p.seen) < lifetime/4
}

func newPaths() *paths {
	return &paths{verified: make(map[identity.KeyID]path), streamed: make(map[identity.KeyID]path),
		pings: make(map[string]path), greetings: make(map[string]path)}
}

// recordPing stores the source of a ping under the name in the ping. It does not retain name.
func (p *paths) recordPing(name []byte, from netip.AddrPort, now time.Time) {
	if len(name) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.pings[string(name)]; !ok || !known.isRecent(from, now, pingedFor) {
		storePath(p.pings, string(name), path{from, now}, pingedFor)
	}
}

// recordGreeting stores the source of a push/pull under the name in the message, and retains name.
func (p *paths) recordGreeting(name string, from netip.Addr, now time.Time) {
	if name == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	storePath(p.greetings, name, path{netip.AddrPortFrom(from, 0), now}, pingedFor)
}

// provedAddress returns the source of an authentic message if the address is proved. A stream proves its source. A
// datagram proves it only together with a push/pull from the same address with the name of the agent's process, because
// its source can be forged.
func (p *paths) provedAddress(key identity.KeyID, epoch uint64, from origin) netip.Addr {
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

// recordVerified stores the source of a verified message.
func (p *paths) recordVerified(key identity.KeyID, from origin, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from.stream {
		storePath(p.streamed, key, path{from.addr, now}, verifiedFor)
	} else {
		storePath(p.verified, key, path{from.addr, now}, verifiedFor)
	}
}

// latest returns the source of the last message of a certificate's holder, or an invalid address. The port is 0 for a
// stream, because the connection is closed.
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

// storePath stores an entry. In a full map, it replaces an expired or a random entry.
func storePath[K comparable](m map[K]path, key K, new path, lifetime time.Duration) {
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

// answerAddresses returns the addresses for an answer: the source of the datagram, or else up to two known addresses of
// the agent.
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
